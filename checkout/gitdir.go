package checkout

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // an index file ends in one
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// workConfig fits a tree as this package writes it: links are plain files, modes and bytes are as they are.
const workConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = false\n\tsymlinks = false\n\tbare = false\n\tautocrlf = false\n" +
	"\tfsmonitor = false\n\tuntrackedCache = false\n\thooksPath = /dev/null\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n"

// Objects is the folder of the store that holds what was fetched of the repository, an absolute path; nothing in it tells of
// credentials or of another repository. It is there as long as the checkout is held, unless the store was damaged.
func (c *Checkout) Objects() string { return filepath.Join(c.gitDir(), "objects") }

// GitDir gives the files of a git directory, by their paths in it, over the store's objects, which are to be found at objects: HEAD
// is the checkout's commit, the index its tree. It is for git commands that read on behalf of somebody who may not write to the
// store. What was not fetched is missing in it; CutOff says where history ends.
func (c *Checkout) GitDir(objects string) (map[string][]byte, error) {
	tree, err := c.tree.list()
	if err != nil {
		return nil, err
	}
	index, err := tree.index()
	if err != nil {
		return nil, err
	}
	head := c.SHA() + "\n"
	files := map[string][]byte{"config": []byte(workConfig), "info/attributes": []byte(storeAttributes), "index": index,
		"objects/info/alternates": []byte(objects + "\n"), "refs/heads/.keep": nil}
	if ref := c.Ref(); strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/") {
		files["packed-refs"] = []byte("# pack-refs with: sorted\n" + c.SHA() + " " + ref + "\n")
		if strings.HasPrefix(ref, "refs/heads/") {
			head = "ref: " + ref + "\n"
		}
	}
	files["HEAD"] = []byte(head)
	if b, err := os.ReadFile(filepath.Join(c.gitDir(), "shallow")); err == nil {
		files["shallow"] = b
	}
	return files, nil
}

// index is the tree as git's index, version 2 (gitformat-index(5)), without what the system says of the files: git looks at those
// that it needs to know about.
func (t *Tree) index() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("DIRC")
	_ = binary.Write(&b, binary.BigEndian, [2]uint32{2, uint32(len(t.Entries))})
	for _, e := range t.Entries {
		mode := map[Kind]uint32{File: 0o100644, Exec: 0o100755, Symlink: 0o120000, Submodule: 0o160000}[e.Kind]
		oid, err := hex.DecodeString(e.OID)
		if err != nil || len(oid) != 20 || mode == 0 {
			return nil, fmt.Errorf("checkout: index: %q is malformed", clip(e.Path, 100))
		}
		begin := b.Len()
		b.Write(make([]byte, 24)) // times, device, inode
		_ = binary.Write(&b, binary.BigEndian, [4]uint32{mode, 0, 0, 0})
		b.Write(oid)
		_ = binary.Write(&b, binary.BigEndian, uint16(min(len(e.Path), 0xfff)))
		b.WriteString(e.Path)
		b.Write(make([]byte, 8-(b.Len()-begin)%8)) // one to eight
	}
	sum := sha1.Sum(b.Bytes()) //nolint:gosec // as above
	b.Write(sum[:])
	return b.Bytes(), nil
}
