package codesearch

import (
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"
)

// dictionary numbers the terms of an index. Numbers are given in order of first sight, so that frequent terms get small ones.
type dictionary struct {
	mu    sync.RWMutex
	ids   map[string]uint32
	terms []string
}

func newDictionary() *dictionary { return &dictionary{ids: map[string]uint32{}} }

// clone copies the dictionary, so that a later index can add to it while searches still use the first.
func (d *dictionary) clone() *dictionary {
	d.mu.RLock()
	defer d.mu.RUnlock()
	c := &dictionary{ids: make(map[string]uint32, len(d.ids)), terms: append([]string(nil), d.terms...)}
	for i, t := range c.terms {
		c.ids[t] = uint32(i)
	}
	return c
}

func (d *dictionary) id(term string) uint32 {
	d.mu.RLock()
	id, ok := d.ids[term]
	d.mu.RUnlock()
	if ok {
		return id
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.ids[term]; ok {
		return id
	}
	id = uint32(len(d.terms))
	term = strings.Clone(term)
	d.ids[term] = id
	d.terms = append(d.terms, term)
	return id
}

func (d *dictionary) lookup(term string) (uint32, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, ok := d.ids[term]
	return id, ok
}

// termer turns text into term numbers. Each goroutine has its own: it remembers every word it has met, so that a word is split
// and stemmed once.
type termer struct {
	dict  *dictionary
	words map[string][]uint32
}

func newTermer(d *dictionary) *termer { return &termer{dict: d, words: map[string][]uint32{}} }

// maxWord is the length in bytes above which a word is taken for data (a hash, base64) and skipped.
const maxWord = 64

// each calls f for every term of a text.
func (t *termer) each(text []byte, f func(id uint32)) {
	for i := 0; i < len(text); {
		if !wordByte[text[i]] {
			i++
			continue
		}
		j := i + 1
		for j < len(text) && wordByte[text[j]] {
			j++
		}
		if j-i <= maxWord && j-i > 1 {
			ids, ok := t.words[string(text[i:j])]
			if !ok {
				ids = t.split(string(text[i:j]))
			}
			for _, id := range ids {
				f(id)
			}
		}
		i = j
	}
}

func (t *termer) split(word string) []uint32 {
	var ids []uint32
	for _, s := range splitWord(word) {
		if st := stem(s); st != "" && !codeNoise[st] {
			ids = append(ids, t.dict.id(st))
		}
	}
	if len(t.words) > 1<<19 {
		clear(t.words)
	}
	t.words[word] = ids
	return ids
}

var wordByte = func() (b [256]bool) {
	for c := range b {
		b[c] = c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	return
}()

// splitWord cuts an identifier into its lower-case parts: parseHTTPRequest2 → parse http request 2.
func splitWord(w string) []string {
	var parts []string
	start := 0
	cut := func(end int) {
		if end > start {
			parts = append(parts, strings.ToLower(w[start:end]))
		}
	}
	for i := 0; i < len(w); i++ {
		c := w[i]
		switch {
		case c == '_':
			cut(i)
			start = i + 1
		case i > start && isUpper(c) && !isUpper(w[i-1]):
			cut(i)
			start = i
		case i > start+1 && isLower(c) && isUpper(w[i-1]) && isUpper(w[i-2]):
			cut(i - 1)
			start = i - 1
		case i > start && isDigit(c) != isDigit(w[i-1]) && (isDigit(c) || i-start > 1):
			// utf8, sha256, x509 and http2 stay whole when the number is short and ends the word.
			if isDigit(c) && i-start <= 4 {
				continue
			}
			if !isDigit(c) && isUpper(c) || isDigit(c) {
				cut(i)
				start = i
			}
		}
	}
	cut(len(w))
	return parts
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// stem reduces a lower-case word to its stem (Porter2). Numbers and words of one letter are dropped.
func stem(w string) string {
	if len(w) < 2 || len(w) > 40 || isDigit(w[0]) && len(w) < 3 {
		return ""
	}
	for i := range len(w) {
		if w[i] >= 0x80 || isDigit(w[i]) {
			return w
		}
	}
	if s, ok := irregular[w]; ok {
		return s
	}
	return english.Stem(american(w), true)
}

// includeStem is Porter2's; a spelling checker takes it for a mistake in a longer line.
const includeStem = "includ" //nolint:misspell // a stem

// american spells -ise and -isation with a z, except where the s belongs to the word.
func american(w string) string {
	for _, end := range []string{"ise", "ised", "ises", "ising", "isation", "iser"} {
		head, ok := strings.CutSuffix(w, end)
		if !ok || len(head) < 4 {
			continue
		}
		switch head {
		case "otherw", "exerc", "prom", "enterpr", "comprom", "surpr", "superv", "compr", "disgu", "expert", "prem", "franch", "conc", "prec", "adverts", "likew", "clockw", "merchand", "parad", "telev", "improv":
			return w
		}
		return head + "iz" + end[2:]
	}
	return w
}

// irregular forms that Porter2 keeps apart.
var irregular = map[string]string{
	"written": "write", "wrote": "write", "sent": "send", "built": "build", "found": "find", "chosen": "choos", "chose": "choos", "ran": "run", "threw": "throw", "thrown": "throw",
	"kept": "keep", "held": "hold", "lost": "lose", "loss": "lose", "begun": "begin", "began": "begin", "broken": "break", "broke": "break", "hidden": "hide", "hid": "hide", "taken": "take", "took": "take",
	"given": "give", "gave": "give", "got": "get", "gotten": "get", "made": "make", "done": "do", "went": "go", "gone": "go", "seen": "see", "saw": "see", "known": "know", "thought": "think", "caught": "catch", "left": "left",
	"meant": "mean", "bound": "bind", "drawn": "draw", "grew": "grow", "grown": "grow", "shrunk": "shrink", "slept": "sleep", "stored": "store", "parsing": "pars", "parser": "pars", "parse": "pars", "parsers": "pars",
	"matches": "match", "matcher": "match", "children": "child", "indices": "index", "indexes": "index", "vertices": "vertex", "matrices": "matrix", "queries": "queri",
	"serializer": "serial", "serialization": "serial", "deserialization": "deseri", "deserializer": "deseri", "validator": "valid", "validation": "valid", "executor": "execut", "iterator": "iter", "iteration": "iter",
	"handler": "handl", "handlers": "handl", "resolver": "resolv", "resolution": "resolv", "formatter": "format", "encoder": "encod", "decoder": "decod", "loader": "load", "reader": "read", "writer": "write", "logger": "log", "logging": "log",
	"scheduler": "schedul", "listener": "listen", "converter": "convert", "conversion": "convert", "generator": "generat", "generation": "generat", "generate": "generat", "provider": "provid", "router": "rout", "routing": "rout",
	"authentication": "auth", "authenticate": "auth", "authenticated": "auth", "authorization": "authoriz", "authorize": "authoriz", "initialization": "init", "initialize": "init", "initialise": "init", "initializer": "init", "config": "config", "configuration": "config", "configure": "config", "configured": "config", "configs": "config", "directory": "dir", "directories": "dir", "dirs": "dir", "arguments": "arg", "argument": "arg", "args": "arg", "parameters": "param", "parameter": "param", "params": "param",
	"environment": "env", "environments": "env", "database": "db", "databases": "db", "dbs": "db", "msg": "messag", "msgs": "messag", "ctx": "context", "req": "request", "reqs": "request", "resp": "respons", "res": "res", "err": "error", "errs": "error", "conn": "connect", "connection": "connect", "connections": "connect", "attr": "attribut", "attrs": "attribut", "elem": "element", "elems": "element", "fn": "function", "func": "function", "funcs": "function", "func's": "function", "num": "number", "nums": "number", "src": "sourc", "dst": "destin", "dest": "destin", "tmp": "temporari", "temp": "temporari", "idx": "index", "len": "length", "str": "string", "impl": "implement", "spec": "specif", "specs": "specif", "prev": "previous", "cfg": "config", "conf": "config", "opts": "option", "opt": "option", "var": "variabl", "vars": "variabl", "expr": "express", "exprs": "express", "expression": "express", "stmt": "statement", "stmts": "statement", "decl": "declar", "declaration": "declar", "evt": "event", "cmd": "command", "cmds": "command", "pkg": "packag", "pkgs": "packag", "repo": "repositori", "repos": "repositori", "max": "maximum", "min": "minimum", "sync": "sync", "synchronous": "sync", "synchronize": "sync", "async": "async", "asynchronous": "async", "asynchronously": "async", "addr": "address", "addrs": "address", "auth": "auth", "authn": "auth", "authz": "authoriz", "buf": "buffer", "bufs": "buffer", "cert": "certif", "certs": "certif", "coll": "collect", "calc": "calcul", "ret": "return", "retval": "return", "proc": "process", "procs": "process", "exec": "execut", "execution": "execut", "execute": "execut", "executes": "execut", "del": "delet", "deletion": "delet", "rm": "remov", "removal": "remov", "info": "inform", "init": "init", "mgr": "manag", "manager": "manag", "perm": "permiss", "perms": "permiss", "ptr": "pointer", "recv": "receiv", "ref": "refer", "refs": "refer", "seq": "sequenc", "sig": "signatur", "stat": "statist", "stats": "statist", "usr": "user", "util": "util", "utils": "util", "val": "valu", "vals": "valu", "ver": "version", "win": "window", "alloc": "alloc", "allocation": "alloc", "allocate": "alloc", "allocator": "alloc", "dealloc": "dealloc", "dup": "duplic", "eval": "evalu", "evaluation": "evalu", "gen": "generat", "hdr": "header", "hdrs": "header", "img": "imag", "lang": "languag", "lib": "librari", "libs": "librari", "loc": "locat", "location": "locat", "nav": "navig", "obj": "object", "objs": "object", "pos": "posit", "pwd": "password", "passwd": "password", "regex": "regex", "regexp": "regex", "sel": "select", "selection": "select", "selector": "select", "sess": "session", "sub": "sub", "subst": "substitut", "sym": "symbol", "syms": "symbol", "sys": "system", "tok": "token", "tx": "transact", "txn": "transact", "iter": "iter", "uri": "url", "uris": "url", "urls": "url", "ops": "oper", "op": "oper", "avg": "averag", "bg": "background", "bool": "boolean", "char": "charact", "chars": "charact", "col": "column", "cols": "column", "cb": "callback", "callbacks": "callback", "ack": "acknowledg", "acks": "acknowledg", "acked": "acknowledg", "dep": "depend", "deps": "depend", "dependency": "depend", "dependencies": "depend", "diff": "differ", "docs": "document", "doc": "document", "ext": "extens", "fmt": "format", "freq": "frequenc", "grp": "group", "lvl": "level", "mem": "memori", "mut": "mutabl", "ns": "namespac", "org": "organ", "pref": "prefer", "prio": "priorit", "prop": "properti", "props": "properti", "pub": "public", "rand": "random", "rec": "record", "sched": "schedul", "sec": "second", "srv": "server", "svc": "servic", "sz": "size", "tbl": "tabl", "thr": "thread", "ts": "timestamp", "usage": "usag",

	// Nouns of verbs, and British spellings.
	"failure": "fail", "failures": "fail", "expiry": "expir", "expiration": "expir", "expiries": "expir", "decision": "decid", "decisions": "decid", "choice": "choos", "choices": "choos", "growth": "grow", "storage": "store", "comparison": "compar",
	"comparisons": "compar", "comparator": "compar", "inclusion": includeStem, "exclusion": "exclud", "exclusions": "exclud", "division": "divid", "submission": "submit", "submissions": "submit", "transmission": "transmit", "omission": "omit", "collision": "collid", "collisions": "collid",
	"reception": "receiv", "receipt": "receiv", "subscription": "subscrib", "subscriptions": "subscrib", "subscriber": "subscrib", "subscribers": "subscrib", "description": "describ", "descriptions": "describ", "descriptor": "describ", "descriptors": "describ", "consumption": "consum", "consumer": "consum",
	"consumers": "consum", "resumption": "resum", "assumption": "assum", "assumptions": "assum", "maintenance": "maintain", "retention": "retain", "explanation": "explain", "repetition": "repeat", "repetitions": "repeat", "definition": "defin", "definitions": "defin", "recognition": "recogn",
	"acquisition": "acquir", "retrieval": "retriev", "renewal": "renew", "arrival": "arriv", "approval": "approv", "proposal": "propos", "behaviour": "behavior", "behaviours": "behavior", "behaviors": "behavior", "colour": "color", "colours": "color", "licence": "licens",
	"licences": "licens", "license": "licens", "licenses": "licens", "cancellation": "cancel", "cancelled": "cancel", "cancelling": "cancel", "canceled": "cancel", "canceling": "cancel", "labelled": "label", "labelling": "label", "centre": "center", "catalogue": "catalog",
	"grey": "gray", "enqueue": "enqueu", "enqueued": "enqueu", "enqueues": "enqueu", "enqueuing": "enqueu", "queue": "queue", "queues": "queue", "queued": "queue", "queuing": "queue", "queueing": "queue", "dequeue": "dequeu", "dequeued": "dequeu",
	"dependent": "depend", "dependents": "depend", "dependant": "depend", "insertion": "insert", "insertions": "insert", "transformation": "transform", "transformer": "transform", "compression": "compress", "compressor": "compress", "encryption": "encrypt", "decryption": "decrypt", "prevention": "prevent",
	"detection": "detect", "detector": "detect", "injection": "inject", "injector": "inject", "rejection": "reject", "rejections": "reject", "selections": "select", "connector": "connect", "connectors": "connect", "connectivity": "connect", "dispatcher": "dispatch", "disposal": "dispos",
	"disposable": "dispos", "disposed": "dispos", "disposes": "dispos", "resets": "reset", "resetting": "reset", "meaning": "mean", "writes": "write", "writing": "write", "throttle": "throttl", "throttling": "throttl", "throttled": "throttl", "throttler": "throttl",
	"scheduled": "schedul", "scheduling": "schedul", "schedules": "schedul", "poller": "poll", "polling": "poll", "watcher": "watch", "watchers": "watch", "worker": "worker", "workers": "worker", "tracing": "trace", "tracer": "trace", "trace": "trace",
	"traces": "trace", "traced": "trace", "sampler": "sampl", "sampling": "sampl", "samples": "sampl", "sample": "sampl", "pairs": "pair", "paired": "pair", "pairing": "pair", "reuse": "reus", "reused": "reus", "reusable": "reus",
	"reusing": "reus", "exhausted": "exhaust", "exhaustion": "exhaust", "leaked": "leak", "leakage": "leak", "eviction": "evict", "evictions": "evict", "compaction": "compact", "compactions": "compact", "recovery": "recov", "recover": "recov", "recovers": "recov",
	"recovered": "recov", "recovering": "recov", "proxied": "proxi", "proxying": "proxi", "hashing": "hash", "hasher": "hash", "sorter": "sort", "sorting": "sort", "ordering": "order", "orders": "order", "ordered": "order", "merger": "merg",
	"parallelism": "parallel", "concurrency": "concurr", "concurrent": "concurr", "concurrently": "concurr", "priority": "priorit", "priorities": "priorit", "prioritise": "priorit",
}

// codeNoise are the stems that stand in nearly every chunk and tell nothing.
var codeNoise = map[string]bool{"the": true, "of": true, "to": true, "and": true, "is": true, "in": true, "it": true, "be": true, "for": true, "if": true, "this": true, "that": true, "self": true, "return": true, "an": true, "or": true, "as": true, "by": true, "on": true, "const": true, "let": true, "public": true, "void": true, "def": true, "end": true, "else": true, "final": true}

// Stems gives the stems of a text as the index sees them: identifiers split, words stemmed, noise dropped. It is for yardsticks that
// must read text the same way.
func Stems(text string) []string {
	var out []string
	for _, m := range wordText.FindAllString(text, -1) {
		if len(m) > maxWord {
			continue
		}
		for _, p := range splitWord(m) {
			if s := stem(p); s != "" && !codeNoise[s] {
				out = append(out, s)
			}
		}
	}
	return out
}

// QuestionWords gives the words of a question that say something.
func QuestionWords(question string) []string {
	var out []string
	for _, m := range wordText.FindAllString(question, 400) {
		for _, p := range splitWord(m) {
			if !stopWord(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// Piece is a part of a file as the index cuts it.
type Piece struct {
	Symbol, Doc string // Doc: the comment above it
	Start, End  int
}

// Pieces cuts a file.
func Pieces(path string, src []byte) []Piece {
	if skipContent(path, src) {
		return nil
	}
	var out []Piece
	for _, p := range cut(path, src) {
		out = append(out, Piece{p.name, p.doc, p.start, p.end})
	}
	return out
}
