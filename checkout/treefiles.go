package checkout

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// treeFiles opens many files of a tree. It opens them by their paths: those come
// from the listing, whose names were checked, and there are no symbolic links in a
// tree, so they lead nowhere else; os.Root would open each folder on the way, which
// on deep trees takes longer than all the rest. Files that follow one another are
// mostly of one folder, which is kept open then: the kernel has one name to look up
// instead of a dozen. It is not safe for concurrent use, and must be closed.
type treeFiles struct {
	dir    string
	root   int // 0: not opened
	folder int // 0: not opened
	of     string
}

// open gives a descriptor that the caller must close.
func (t *treeFiles) open(e *Entry) (int, error) {
	if t.root == 0 {
		var err error
		if t.root, err = openFolder(unix.AT_FDCWD, t.dir); err != nil {
			t.root = 0
			return 0, err
		}
	}
	cut := strings.LastIndexByte(e.Path, '/')
	if cut < 0 {
		return openAt(t.root, e.Path, 0)
	}
	if of := e.Path[:cut]; of != t.of {
		// It may be the only one of that folder.
		t.leave()
		t.of = of
		return openAt(t.root, e.Path, 0)
	}
	if t.folder == 0 {
		f, err := openFolder(t.root, t.of)
		if err != nil {
			return 0, err
		}
		t.folder = f
	}
	return openAt(t.folder, e.Path[cut+1:], 0)
}

func (t *treeFiles) leave() {
	if t.folder != 0 {
		_ = syscall.Close(t.folder)
	}
	t.folder, t.of = 0, ""
}

func (t *treeFiles) close() {
	t.leave()
	if t.root != 0 {
		_ = syscall.Close(t.root)
		t.root = 0
	}
}

func openFolder(at int, path string) (int, error) { return openAt(at, path, unix.O_DIRECTORY) }

func openAt(at int, path string, flags int) (int, error) {
	for {
		f, err := unix.Openat(at, path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		if err != unix.EINTR { //nolint:errorlint // a number
			return f, err
		}
	}
}
