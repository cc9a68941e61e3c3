package report

import (
	"path"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// Permalink is the page of a location's lines at its commit; "" for a repository without pages. Of the path every byte
// but letters, digits and -._~/ is escaped, so that the link also holds inside Markdown. The form is GitHub's:
// https://docs.github.com/en/repositories/working-with-files/using-files/getting-permanent-links-to-files.
func Permalink(l librarian.Location) string {
	if l.Web == "" || l.SHA == "" {
		return ""
	}
	link := strings.TrimRight(l.Web, "/") + "/blob/" + l.SHA + "/" + escapePath(l.Path)
	if l.Start == 0 {
		return link
	}
	if rendered(l.Path) {
		link += "?plain=1" // GitHub shows such files rendered, where lines have no anchors
	}
	link += "#L" + Range{l.Start, l.Start}.String()
	if l.End > l.Start {
		link += "-L" + Range{l.End, l.End}.String()
	}
	return link
}

// Label names a location for people: repo/path:lines. The repository goes by its name without the owner.
func Label(l librarian.Location) string {
	return repoPath(path.Base(l.Name), l)
}

// Pinned names a location by path, lines and full commit: path:lines@sha.
func Pinned(l librarian.Location) string {
	return withLines(showPath(l.Path), l) + "@" + l.SHA
}

func repoPath(repo string, l librarian.Location) string {
	return withLines(strings.TrimPrefix(repo+"/"+showPath(l.Path), "./"), l)
}

func withLines(s string, l librarian.Location) string {
	if lines := (Range{l.Start, l.End}).String(); lines != "" {
		return s + ":" + lines
	}
	return s
}

const hexDigits = "0123456789ABCDEF"

func escapePath(p string) string {
	var b strings.Builder
	for i := range len(p) {
		switch c := p[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '~', c == '/':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

// rendered reports whether GitHub shows a file as a document by default, by the endings that github/markup lists.
func rendered(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdwn", ".mdx", ".rst", ".adoc", ".asciidoc", ".asc", ".org", ".textile", ".rdoc", ".creole", ".mediawiki", ".wiki", ".pod":
		return true
	}
	return false
}
