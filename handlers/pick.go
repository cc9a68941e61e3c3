package handlers

import (
	"bytes"
	"reflect"
	"strings"
	"time"
)

// wanted is which keys of a JSON object are read; nil: the value is read whole.
type wanted map[string]wanted

// wantedOf are the keys that decoding into a struct reads. Lists are read whole.
func wantedOf(t reflect.Type) wanted {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	w := wanted{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		w[name] = wantedOf(f.Type)
	}
	return w
}

// pick copies from a JSON object what is wanted of it. Most of a delivery is addresses that nobody reads; to step over them
// takes a tenth of the time that it takes encoding/json to do so, which looks at each byte twice. What is stepped over is
// not checked. ok is false for what is not plainly spelt, as GitHub spells it: decode that whole.
func pick(object []byte, want wanted) (picked []byte, ok bool) {
	p := picker{src: object, out: make([]byte, 0, 2048)}
	p.space()
	p.object(want)
	p.space()
	return p.out, !p.bad && p.at == len(object)
}

// picker reads src forwards. Once it is bad it stays so.
type picker struct {
	src []byte
	at  int
	out []byte
	bad bool
}

// object copies the wanted members of the object that comes next.
func (p *picker) object(want wanted) {
	if !p.take('{') {
		return
	}
	p.out = append(p.out, '{')
	for first, written := true, false; !p.bad; first = false {
		if p.space(); p.next() == '}' && first {
			break
		}
		start := p.at
		p.text()
		key := p.src[start:p.at]
		if p.space(); p.bad || !plainKey(key) || !p.take(':') {
			p.bad = true
			return
		}
		p.space()
		if below, ok := want[string(key[1:len(key)-1])]; !ok {
			p.value()
		} else {
			if written {
				p.out = append(p.out, ',')
			}
			written = true
			p.out = append(append(p.out, key...), ':')
			if from := p.at; below != nil && p.next() == '{' {
				p.object(below)
			} else {
				p.value()
				p.out = append(p.out, p.src[from:p.at]...)
			}
		}
		if p.space(); p.next() != ',' {
			break
		}
		p.at++
	}
	p.take('}')
	p.out = append(p.out, '}')
}

// plainKey reports whether no other spelling of a key could be meant: encoding/json takes any case.
func plainKey(key []byte) bool {
	for _, c := range key {
		if c == '\\' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			return false
		}
	}
	return true
}

// value steps over the value that comes next.
func (p *picker) value() {
	depth, from := 0, p.at
	for !p.bad {
		switch p.next() {
		case '"':
			p.text()
		case '{', '[':
			depth++
			p.at++
		case '}', ']':
			if depth--; depth < 0 { // the end of what the value is in
				p.bad = p.at == from
				return
			}
			p.at++
		case ',', ':':
			if depth == 0 {
				p.bad = p.at == from
				return
			}
			p.at++
		case 0:
			p.bad = true
			return
		default: // of a number, a word or blank space
			p.at++
			continue
		}
		if depth == 0 {
			return
		}
	}
}

// text steps over the string that comes next.
func (p *picker) text() {
	if !p.take('"') {
		return
	}
	for {
		n := bytes.IndexByte(p.src[p.at:], '"')
		if n < 0 {
			p.bad = true
			return
		}
		slashes := 0
		for slashes < n && p.src[p.at+n-1-slashes] == '\\' {
			slashes++
		}
		if p.at += n + 1; slashes%2 == 0 {
			return
		}
	}
}

func (p *picker) space() {
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
}

// next is the byte that comes next; 0 at the end.
func (p *picker) next() byte {
	if p.at >= len(p.src) {
		return 0
	}
	return p.src[p.at]
}

func (p *picker) take(c byte) bool {
	if p.next() != c {
		p.bad = true
		return false
	}
	p.at++
	return true
}

// envelopeKeys is what is read of most deliveries.
var envelopeKeys = wantedOf(reflect.TypeFor[envelope]())
