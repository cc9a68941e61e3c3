package codetool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// CheckoutArgs are the arguments of checkout_repo.
type CheckoutArgs struct {
	Repo string `json:"repo" jsonschema:"owner/repo, or a URL of the repository or of something in it (https, ssh, a link to a branch, file, commit or pull request)."`
	Ref  string `json:"ref,omitempty" jsonschema:"A branch, a tag, a full commit sha or refs/pull/N/head. Default: the ref a link names, else the default branch."`
}

// resolveHint ends the refusal of a repository that was not found.
const resolveHint = "If the name is uncertain, resolve it with search_repos first."

func (s *Session) checkoutRepo() tool.Tool {
	return tool.New(tool.Definition[CheckoutArgs]{
		Name: "checkout_repo",
		Description: "Gives you a read-only working tree of a repository at one commit. Call it before read, grep, find, ls, find_code, " +
			"outline and read_enclosing; its answer says how to name the repository there. Several repositories, and several refs of one, can be open at once.",
		Effect:  tool.Read,
		Verb:    "checkout",
		Subject: s.checkoutSubject,
		Run:     s.runCheckout,
	})
}

func (s *Session) checkoutSubject(a CheckoutArgs) string {
	spec, err := checkout.ParseRepo(a.Repo, s.opts.DefaultHost)
	if err != nil {
		return tool.OneLine(tool.Clip(withoutUser(a.Repo), 100))
	}
	name := spec.Path
	if !strings.EqualFold(spec.Host, s.opts.DefaultHost) {
		name = spec.Host + "/" + name
	}
	if ref := cmp.Or(a.Ref, spec.Ref); ref != "" {
		name += "@" + ref
	}
	return tool.OneLine(tool.Clip(name, 150))
}

// userInfo is a URL's user name and password.
var userInfo = regexp.MustCompile(`://[^/?#\s"]*@`)

// withoutUser takes what may be a password out of a text that is shown.
func withoutUser(s string) string { return userInfo.ReplaceAllString(s, "://…@") }

func (s *Session) runCheckout(ctx context.Context, a CheckoutArgs) (tool.Result, error) {
	spec, err := checkout.ParseRepo(a.Repo, s.opts.DefaultHost)
	if err != nil {
		no, err := refusal(err)
		no.Text = withoutUser(no.Text)
		return no, err
	}
	if err := checkout.CheckRef(a.Ref); err != nil {
		return refusal(err)
	}
	h, again, asked, err := s.openLinked(ctx, spec, a.Ref)
	if err != nil {
		return refusal(err)
	}
	c, ref := h.Checkout, refLabel(h.Opened, asked)
	how := c.How()
	if again {
		how = checkout.Cached
	}
	base, _, _ := strings.Cut(h.key, "@") // a second ref that leads to a commit held already has the first one's key
	name := base + "@" + ref
	branch := c.DefaultBranch()
	if branch == "" {
		branch = "not set"
	}
	text := fmt.Sprintf("Checked out %s (%.12s, default branch %s)\n%s · %d files.\nName it in repo parameters as %q.",
		name, c.SHA(), branch, how, c.Files(), h.key)
	lacks := lacksText(c.Lacks())
	if lacks != "" {
		text += "\n" + lacks
	}
	return tool.Result{
		Text:    text,
		Subject: name,
		Summary: fmt.Sprintf("%s · %s files", how, thousands(c.Files())),
		Data: tool.JSON(CheckoutData{Repo: h.key, Name: h.Repo.FullName(), Ref: ref, SHA: c.SHA(), DefaultBranch: c.DefaultBranch(),
			Files: c.Files(), How: string(how), Lacks: lacks}),
	}, nil
}

// lacksShown is how many of the files are named that a clone lacks.
const lacksShown = 5

// lacksText says which files are not in a clone on this machine; "" where all are.
func lacksText(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var names []string
	for _, p := range paths[:min(len(paths), lacksShown)] {
		names = append(names, fmt.Sprintf("%q", p))
	}
	more := ""
	if n := len(paths) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("The clone on this machine lacks the contents of %d of its files, which can be neither read nor searched: %s%s.", len(paths), strings.Join(names, ", "), more)
}

// openLinked opens a place at ref. Without one the ref of a link counts, of which only the first segment is known to belong
// to it: where that is no ref, the branch may have slashes in its name, and up to three more segments are tried.
func (s *Session) openLinked(ctx context.Context, spec checkout.Spec, ref string) (h *held, again bool, asked string, err error) {
	if ref != "" || spec.Ref == "" {
		h, again, err = s.open(ctx, spec, ref)
		return h, again, ref, err
	}
	ref = spec.Ref
	rest := strings.Split(spec.Rest, "/")
	var first error
	for i := 0; ; i++ {
		h, again, err = s.open(ctx, spec, ref)
		if err == nil {
			return h, again, ref, nil
		}
		if first == nil {
			first = err
		}
		var wrongRef *checkout.RefError
		if !errors.As(err, &wrongRef) || i == len(rest) || i == 3 || rest[i] == "" {
			return nil, false, "", first
		}
		ref += "/" + rest[i]
	}
}

// refusal makes a result of an error that has a sentence for the model; any other breaks the run.
func refusal(err error) (tool.Result, error) {
	text, said := librarian.UserMessage(err)
	hint := resolveHint
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		hint = hinted.Hint()
		if !said {
			text, said = sentence(hinted.Error()), true
		}
	}
	if !said {
		return tool.Result{}, err
	}
	if hint != "" && !strings.Contains(text, hint) {
		text = sentence(text) + " " + hint
	}
	return tool.Result{Text: text, IsError: true}, nil
}

// sentence ends s with a full stop.
func sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}
