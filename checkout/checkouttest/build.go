package checkouttest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Build makes a bare repository in dir from a txtar archive and gives the ids of
// its commits by their messages. The archive's sections are, in order:
//
//	-- @commit MESSAGE --        begins a commit on the present branch; files follow
//	-- PATH --                   a file of it
//	-- PATH (exec) --            an executable file
//	-- PATH (symlink) --         a symbolic link; its target is the section's text, trimmed
//	-- PATH (submodule) --       a submodule; the text is the commit id
//	-- PATH (delete) --          the path goes
//	-- @branch NAME --           makes a branch at the present commit and moves to it
//	-- @tag NAME --              an annotated tag of the present commit
//	-- @lighttag NAME --         a plain tag
//	-- @ref refs/pull/7/head --  any ref
//	-- @back MESSAGE --          goes back to main, at the commit of that message
//	-- @parent MESSAGE --        the next commit has this one as a further parent
//
// The first branch is main, and so is HEAD. Commits are one minute apart and
// come out the same every time.
func Build(t testing.TB, dir, archive string) map[string]string {
	t.Helper()
	var in strings.Builder
	branch, mark, messages := "refs/heads/main", 0, []string{}
	from, more := "", ""
	of := func(message string) string {
		i := slices.Index(messages, message)
		if i < 0 {
			t.Fatalf("checkouttest: no commit %q", message)
		}
		return fmt.Sprintf(":%d", i+1)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name, rest, isCommand := strings.Cut(f.Name, " ")
		if isCommand = isCommand && strings.HasPrefix(name, "@"); isCommand {
			switch name {
			case "@commit":
				mark++
				messages = append(messages, rest)
				fmt.Fprintf(&in, "commit %s\nmark :%d\nauthor Ann Author <ann@example.com> %d +0000\ncommitter Ann Author <ann@example.com> %d +0000\ndata %d\n%s\n",
					branch, mark, 1700000000+60*mark, 1700000000+60*mark, len(rest), rest)
				if from != "" {
					fmt.Fprintf(&in, "from %s\n", from)
				}
				in.WriteString(more)
				from, more = fmt.Sprintf(":%d", mark), ""
			case "@back":
				branch, from = "refs/heads/main", of(rest)
			case "@parent":
				more += "merge " + of(rest) + "\n"
			case "@branch":
				branch = "refs/heads/" + rest
				fmt.Fprintf(&in, "reset %s\nfrom %s\n\n", branch, from)
			case "@tag":
				fmt.Fprintf(&in, "tag %s\nfrom %s\ntagger Ann Author <ann@example.com> %d +0000\ndata %d\n%s\n", rest, from, 1700000000+60*mark, len(rest), rest)
			case "@lighttag":
				fmt.Fprintf(&in, "reset refs/tags/%s\nfrom %s\n\n", rest, from)
			case "@ref":
				fmt.Fprintf(&in, "reset %s\nfrom %s\n\n", rest, from)
			default:
				t.Fatalf("checkouttest: unknown section %q", f.Name)
			}
			continue
		}
		path, what, _ := strings.Cut(f.Name, " (")
		data := string(f.Data)
		mode := "100644"
		switch strings.TrimSuffix(what, ")") {
		case "":
		case "exec":
			mode = "100755"
		case "symlink":
			mode, data = "120000", strings.TrimSpace(data)
		case "submodule":
			fmt.Fprintf(&in, "M 160000 %s %s\n", strings.TrimSpace(data), path)
			continue
		case "delete":
			fmt.Fprintf(&in, "D %s\n", path)
			continue
		default:
			t.Fatalf("checkouttest: unknown section %q", f.Name)
		}
		fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, path, len(data), data)
	}
	InitBare(t, dir)
	GitInput(t, dir, in.String(), "fast-import", "--quiet", "--date-format=raw", "--export-marks="+dir+"/marks")
	marks, err := os.ReadFile(dir + "/marks")
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(dir + "/marks")
	out := map[string]string{}
	for line := range strings.Lines(string(marks)) {
		var n int
		var sha string
		if _, err := fmt.Sscanf(line, ":%d %s", &n, &sha); err == nil && n <= len(messages) {
			out[messages[n-1]] = sha
		}
	}
	return out
}

// InitBare makes an empty bare repository whose HEAD is main.
func InitBare(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	Git(t, dir, "init", "-q", "--bare", "--template=", "-b", "main", ".")
}

// Add builds owner/name on the server from an archive.
func (s *Server) Add(t testing.TB, name, archive string) map[string]string {
	t.Helper()
	return Build(t, s.Dir(name), archive)
}
