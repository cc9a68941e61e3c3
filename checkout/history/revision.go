package history

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/librarian-app/librarian/checkout"
)

// ancestry is what may follow a name: steps to parents, and "the commit itself".
var (
	ancestry = regexp.MustCompile(`^(.*?)((?:~[0-9]*|\^[0-9]*|\^\{commit\}|\^\{\})+)$`)
	aStep    = regexp.MustCompile(`~[0-9]*|\^[0-9]+|\^\{commit\}|\^\{\}|\^`)
)

// maxGenerations bounds how far back a name may lead.
const maxGenerations = maxLookAt

// bring resolves a ref, a full or short id, or one of these followed by steps to
// ancestors ("main~3", "v1^", "HEAD^2"), and sees to it that the commit is in the
// store with so much of its history. HEAD is the checkout's commit. The name is
// resolved as any; only from its commit on do the steps count.
func bring(ctx context.Context, c *checkout.Checkout, name string, depth int) (string, error) {
	base, suffix := name, ""
	if m := ancestry.FindStringSubmatch(name); m != nil {
		base, suffix = m[1], m[2]
	}
	if base == "HEAD" || base == "@" || base == "" && suffix == "" {
		base = c.SHA()
	}
	steps, back, err := generations(name, suffix)
	if err != nil {
		return "", err
	}
	if back == 0 {
		return bringBase(ctx, c, base, depth)
	}
	if base == "" {
		return "", &InputError{What: fmt.Sprintf("%q", text(name, 100)), Reason: "names no commit to go back from; put a branch, a tag, a commit id or HEAD before it"}
	}
	sha, err := bringBase(ctx, c, base, back+1)
	if err != nil {
		return "", err
	}
	found := ""
	err = lines(ctx, c, "", func(l string) error { found = l; return nil }, "rev-parse", "--verify", "--quiet", "--end-of-options", sha+steps)
	if found == "" {
		if ctx.Err() != nil {
			return "", fmt.Errorf("history: %w", err)
		}
		return "", &InputError{What: fmt.Sprintf("%q", text(name, 100)), Reason: "leads to no commit: the history does not go back so far there, or has no such parent"}
	}
	return c.Bring(ctx, found, depth)
}

// shortID is a commit's id as people write it.
var shortID = regexp.MustCompile(`^[0-9a-fA-F]{7,39}$`)

// bringBase is Bring, but for a short id that nothing goes by: no host tells whose
// it is, so it is looked for again with the history of the checkout's commit.
func bringBase(ctx context.Context, c *checkout.Checkout, base string, depth int) (string, error) {
	sha, err := c.Bring(ctx, base, depth)
	var unknown *checkout.RefError
	if err == nil || !errors.As(err, &unknown) || !shortID.MatchString(base) {
		return sha, err
	}
	if _, deeper := c.Bring(ctx, c.SHA(), maxGenerations); deeper != nil {
		return "", err
	}
	return c.Bring(ctx, base, depth)
}

// generations gives the steps of a suffix without those that lead nowhere else,
// and how many generations back they lead.
func generations(name, suffix string) (steps string, back int, err error) {
	for _, step := range aStep.FindAllString(suffix, -1) {
		n := 1
		if digits := step[1:]; strings.HasPrefix(digits, "{") {
			continue
		} else if digits != "" {
			if n, err = strconv.Atoi(digits); err != nil {
				n = maxGenerations + 1
			}
		}
		if n == 0 {
			continue
		}
		if step[0] == '^' {
			n = 1
		}
		if back += n; back > maxGenerations {
			return "", 0, &InputError{What: fmt.Sprintf("%q", text(name, 100)), Reason: fmt.Sprintf("goes back more than %d generations", maxGenerations)}
		}
		steps += step
	}
	return steps, back, nil
}
