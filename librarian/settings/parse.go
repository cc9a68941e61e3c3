package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
)

// Bounds of a layer.
const (
	MaxFile = 64 << 10 // bytes
	maxList = 200      // entries of a list that names no other bound
	maxText = 2_000    // bytes of a text
)

// parse reads a layer's file, strictly. What it does not understand it leaves out and tells to f; ok is false when the file is
// not to be understood at all.
func parse(raw []byte, f *faults) (file File, ok bool) {
	if len(raw) > MaxFile {
		f.add(0, "", "is longer than %d KiB", MaxFile>>10)
		return File{}, false
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return File{}, true // empty, or comments only
	} else if err != nil {
		line, message := position(err)
		f.add(line, "", "is not YAML: %s", message)
		return File{}, false
	}
	if !errors.Is(d.Decode(new(yaml.Node)), io.EOF) {
		f.add(0, "", "holds more than one YAML document")
		return File{}, false
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode && doc.Content[0].ShortTag() != "!!null" {
		f.add(1, "", "is not a list of keys with their values")
		return File{}, false
	}
	decode(doc.Content[0], reflect.ValueOf(&file).Elem(), "", "", f)
	return file, true
}

// position takes the line out of the YAML library's message.
func position(err error) (int, string) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if n, rest, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(n); err == nil {
				return line, shorten(rest)
			}
		}
	}
	return 0, shorten(message)
}

// decode fills v, a part of a File, from a node. A value that is not of the right kind, or that the field's tags refuse, is a
// fault and leaves v as it was.
func decode(n *yaml.Node, v reflect.Value, tag reflect.StructTag, key string, f *faults) {
	if n.ShortTag() == "!!null" {
		return // a key whose value is commented out says nothing
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		f.add(n.Line, key, "anchors and aliases are not understood here")
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		before := len(f.all)
		decode(n, to.Elem(), tag, key, f)
		if to.Elem().Kind() == reflect.Struct || len(f.all) == before {
			v.Set(to)
		}
	case reflect.Struct:
		decodeKeys(n, v, key, f)
	case reflect.Slice:
		decodeList(n, v, tag, key, f)
	default:
		if err := decodeScalar(n, v, tag); err != nil {
			f.add(n.Line, key, "%s", err.Error())
		}
	}
}

func decodeKeys(n *yaml.Node, v reflect.Value, key string, f *faults) {
	if n.Kind != yaml.MappingNode {
		f.add(n.Line, key, "must be keys with their values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		full := strings.TrimPrefix(key+"."+name, ".")
		field, ok := fieldOf(v.Type(), name)
		switch {
		case !ok:
			f.add(n.Content[i].Line, strings.TrimPrefix(key+"."+shorten(name), "."), "there is no such key")
			continue
		case seen[name]:
			f.add(n.Content[i].Line, full, "stands here twice")
			continue
		}
		seen[name] = true
		f.lines[full] = n.Content[i].Line
		decode(n.Content[i+1], v.FieldByIndex(field.Index), field.Tag, full, f)
	}
}

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for field := range t.Fields() {
		if field.Tag.Get("yaml") == name {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

func decodeList(n *yaml.Node, v reflect.Value, tag reflect.StructTag, key string, f *faults) {
	bound := maxList
	if m, err := strconv.Atoi(tag.Get("max")); err == nil {
		bound = m
	}
	switch {
	case n.Kind != yaml.SequenceNode:
		f.add(n.Line, key, "must be a list")
		return
	case len(n.Content) > bound:
		f.add(n.Line, key, "has more than %d entries", bound)
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, len(n.Content))
	for i, one := range n.Content {
		at := fmt.Sprintf("%s[%d]", key, i)
		f.lines[at] = one.Line
		e := reflect.New(v.Type().Elem()).Elem()
		before := len(f.all)
		if one.ShortTag() == "!!null" {
			f.add(one.Line, at, "is empty")
		}
		decode(one, e, tag, at, f)
		if len(f.all) == before {
			list = reflect.Append(list, e)
		}
	}
	v.Set(list)
}

func decodeScalar(n *yaml.Node, v reflect.Value, tag reflect.StructTag) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New("must be one value")
	}
	kind := n.ShortTag()
	switch v.Kind() {
	case reflect.Bool:
		if kind != "!!bool" {
			return fmt.Errorf("%q is neither true nor false", shorten(n.Value))
		}
		return n.Decode(v.Addr().Interface())
	case reflect.Int64:
		if kind != "!!int" || n.Decode(v.Addr().Interface()) != nil {
			return fmt.Errorf("%q is not a whole number", shorten(n.Value))
		}
		return atLeast(float64(v.Int()), tag)
	case reflect.Float64:
		if kind != "!!int" && kind != "!!float" || n.Decode(v.Addr().Interface()) != nil || math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return fmt.Errorf("%q is not a number", shorten(n.Value))
		}
		return atLeast(v.Float(), tag)
	case reflect.String:
		if kind != "!!str" {
			return fmt.Errorf("%q is not text; put it in quotes", shorten(n.Value))
		}
		v.SetString(n.Value)
		return checkText(n.Value, tag)
	default:
		return fmt.Errorf("a %s is not understood", v.Kind())
	}
}

func checkText(s string, tag reflect.StructTag) error {
	switch {
	case s == "" || len(s) > maxText:
		return fmt.Errorf("must be text of 1 to %d bytes", maxText)
	case tag.Get("enum") != "" && !slices.Contains(strings.Split(tag.Get("enum"), ","), s):
		return fmt.Errorf("%q is none of %s", shorten(s), strings.ReplaceAll(tag.Get("enum"), ",", ", "))
	}
	switch tag.Get("form") {
	case "pattern":
		_, err := access.ParsePattern(s)
		return err
	case "repo":
		_, err := librarian.ParseRepoName(s)
		return err
	case "duration":
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("%q is not a duration as in 90s or 10m", shorten(s))
		}
		return atLeast(d.Seconds(), tag)
	}
	return nil
}

func atLeast(n float64, tag reflect.StructTag) error {
	least, err := strconv.ParseFloat(tag.Get("min"), 64)
	if err == nil && n < least {
		unit := ""
		if tag.Get("form") == "duration" {
			unit = " s"
		}
		return fmt.Errorf("must be at least %s%s", tag.Get("min"), unit)
	}
	return nil
}
