package checkouttest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Pack collects objects that no git would make, and puts them into a
// repository without git looking at them closely.
type Pack struct {
	body bytes.Buffer
	n    uint32
	z    *zlib.Writer
}

var packTypes = map[string]byte{"commit": 1, "tree": 2, "blob": 3, "tag": 4, "ref-delta": 7}

func (p *Pack) header(kind string, size int) {
	p.n++
	b := packTypes[kind]<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.body.WriteByte(b | 0x80)
		b = byte(size & 0x7f)
	}
	p.body.WriteByte(b)
}

func (p *Pack) deflate(data []byte) {
	if p.z == nil {
		p.z = zlib.NewWriter(&p.body)
	}
	p.z.Reset(&p.body)
	_, _ = p.z.Write(data)
	_ = p.z.Close()
}

// Add adds an object as its bytes are and gives its id.
func (p *Pack) Add(kind string, data []byte) string {
	p.header(kind, len(data))
	p.deflate(data)
	return ObjectID(kind, data)
}

// Repeat adds a delta that copies the whole object base, of size bytes, n
// times over. The caller knows the id of what comes out.
func (p *Pack) Repeat(base string, size, n int) {
	var d bytes.Buffer
	varint := func(v int) {
		for ; v > 0x7f; v >>= 7 {
			d.WriteByte(byte(v) | 0x80)
		}
		d.WriteByte(byte(v))
	}
	varint(size)
	varint(size * n)
	const most = 0xffffff
	for range n {
		for at := 0; at < size; at += most {
			c := min(most, size-at)
			d.Write([]byte{0xff, byte(at), byte(at >> 8), byte(at >> 16), byte(at >> 24), byte(c), byte(c >> 8), byte(c >> 16)})
		}
	}
	p.header("ref-delta", d.Len())
	id, _ := hex.DecodeString(base)
	p.body.Write(id)
	p.deflate(d.Bytes())
}

// Install writes the pack into a bare repository and gives its size in bytes.
func (p *Pack) Install(t testing.TB, dir string) int {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("PACK")
	_ = binary.Write(&b, binary.BigEndian, []uint32{2, p.n})
	b.Write(p.body.Bytes())
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	path := filepath.Join(dir, "objects", "pack", "pack-"+hex.EncodeToString(sum[:])+".pack")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	Git(t, dir, "index-pack", path)
	return b.Len()
}

// TreeEntry is one line of a tree object, as written.
type TreeEntry struct{ Mode, Name, OID string }

// TreeData makes the bytes of a tree object, in the order given.
func TreeData(entries ...TreeEntry) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		id, _ := hex.DecodeString(e.OID)
		fmt.Fprintf(&b, "%s %s\x00", e.Mode, e.Name)
		b.Write(id)
	}
	return b.Bytes()
}

// CommitData makes the bytes of a commit without parents.
func CommitData(tree string) []byte {
	return fmt.Appendf(nil, "tree %s\nauthor Ann Author <ann@example.com> 1700000000 +0000\ncommitter Ann Author <ann@example.com> 1700000000 +0000\n\nmade by hand\n", tree)
}

// ObjectID is git's name for an object.
func ObjectID(kind string, data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// AddRaw makes the bare repository owner/name whose main is a commit of the
// given entries, with the objects of a pack.
func (s *Server) AddRaw(t testing.TB, name string, p *Pack, entries ...TreeEntry) string {
	t.Helper()
	dir := s.Dir(name)
	InitBare(t, dir)
	tree := p.Add("tree", TreeData(entries...))
	commit := p.Add("commit", CommitData(tree))
	p.Install(t, dir)
	if err := os.MkdirAll(filepath.Join(dir, "refs/heads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "refs/heads/main"), []byte(commit+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return commit
}
