package app

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// replies are the App's in a review thread.
func (f *flow) replies(repo string, number int, root int64) []githubsim.ReviewComment {
	var out []githubsim.ReviewComment
	for _, r := range f.sim.ReviewComments(repo, number) {
		if r.InReplyTo == root && r.App == f.world.app.Slug {
			out = append(out, r)
		}
	}
	return out
}

func TestT2_P8_APullRequestOfADeletedForkIsReadAtItsHead(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, lids)
	p, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "@librarian what is the rim of a lid?", Head: "wide", ForkDeleted: true})
	require.NoError(t, err)
	f.eventually("the pull request's body is answered", func() bool { return len(f.comments("acme/lids", p.Number)) == 1 })
	body := f.comments("acme/lids", p.Number)[0].Body
	require.Contains(t, body, "/acme/lids/blob/"+p.HeadSHA+"/lid.go#L", "at the head, by the base repository, which readers can open")
	require.Contains(t, body, "Rim")
	good, all, err := checkLinks(t.Context(), f.web, body)
	require.NoError(t, err)
	require.Positive(t, all)
	require.Equal(t, all, good, "P8: every link opens")
}

func TestT1_ReviewThreadsAreAnsweredInThemAndGoOn(t *testing.T) {
	t.Parallel()
	var second model.Call
	cite := args{"repo": "acme/lids", "file": "lid.go", "lines": "4", "note": "here"}
	m := modeltest.New(
		modeltest.Call(use("checkout_repo", args{"repo": "acme/lids"})),
		modeltest.Call(use("read", args{"repo": "acme/lids", "path": "lid.go"})),
		results("It is 82.", cite),
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			second = c
			return results("As said, 82.", cite)(ctx, c)
		})
	f := newFlow(t, m, lids)
	_, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "b", Head: "wide"})
	require.NoError(t, err)
	c, err := f.sim.ReviewComment("acme/lids", 1, simUser, githubsim.ReviewCommentOptions{Path: "lid.go", Line: 4, Body: "@librarian how wide?"})
	require.NoError(t, err)
	f.eventually("the question is answered in its thread", func() bool { return len(f.replies("acme/lids", 1, c.ID)) == 1 })
	require.Equal(t, 1, f.modelRuns(), "O4: the comment came as two events and is one run")
	require.Contains(t, f.replies("acme/lids", 1, c.ID)[0].Body, "lid.go#L4")

	reply, err := f.sim.ReplyReviewComment(c.ID, simUser, "@librarian are you sure?")
	require.NoError(t, err)
	f.eventually("a reply is answered at the thread's root", func() bool { return len(f.replies("acme/lids", 1, c.ID)) == 2 })
	require.Empty(t, f.replies("acme/lids", 1, reply.ID))
	require.Empty(t, f.comments("acme/lids", 1), "nothing beside the thread")
	require.Contains(t, f.replies("acme/lids", 1, c.ID)[1].Body, "lid.go#L4", "what was read in the thread's last run can be cited")
	var texts []string
	for _, msg := range second.Messages {
		for _, p := range msg.Parts {
			texts = append(texts, p.Text)
		}
	}
	require.Contains(t, strings.Join(texts, "\n"), "const Width = 82", "the thread's last run goes on")
	require.Contains(t, second.Messages[len(second.Messages)-1].Parts[0].Text, "are you sure?")
	require.NoError(t, m.Done())
}

func TestO4_AReviewAndItsCommentAreOneRun(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, lids)
	_, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "b", Head: "wide"})
	require.NoError(t, err)
	_, err = f.sim.Review("acme/lids", 1, simUser, githubsim.ReviewOptions{Comments: []githubsim.ReviewCommentOptions{{Path: "lid.go", Line: 4, Body: "@librarian how wide is it?"}}})
	require.NoError(t, err)
	root := f.sim.ReviewComments("acme/lids", 1)[0].ID
	f.eventually("the comment is answered", func() bool { return len(f.replies("acme/lids", 1, root)) == 1 })
	r, err := f.sim.Review("acme/lids", 1, simUser, githubsim.ReviewOptions{Body: "@librarian what is the rim?"})
	require.NoError(t, err)
	f.eventually("a review's body is answered in the conversation", func() bool { return len(f.comments("acme/lids", 1)) == 1 })
	require.Len(t, f.replies("acme/lids", 1, root), 1)
	require.Equal(t, 2, f.modelRuns())
	require.NotZero(t, r.ID)
}

var baseInPrompt = regexp.MustCompile("`git_diff` from ([0-9a-f]{40}) with merge_base")

func TestT5_APullRequestOfAThousandFilesIsDiffedLocally(t *testing.T) {
	t.Parallel()
	var base, diff string
	m := modeltest.New(
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			if got := baseInPrompt.FindStringSubmatch(c.Messages[0].Parts[0].Text); got != nil {
				base = got[1]
			}
			return modeltest.Call(use("checkout_repo", args{"repo": "acme/many"}))(ctx, c)
		},
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			return modeltest.Call(use("git_diff", args{"from": base, "merge_base": true, "path": "f/0999.txt"}))(ctx, c)
		},
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			diff = c.Messages[len(c.Messages)-1].Parts[0].Text
			return results("A thousand files.", args{"repo": "acme/many", "file": "f/0999.txt", "lines": "1", "note": "the last one"})(ctx, c)
		})
	f := newFlow(t, m, func(f *flow) {
		wide := map[string]string{}
		for i := range 1000 {
			wide[fmt.Sprintf("f/%04d.txt", i)] = fmt.Sprintf("file %d\n", i)
		}
		f.addRepo("many", map[string]string{"README.md": "many\n"}, wide)
	})
	p, err := f.sim.OpenPull("acme/many", simUser, githubsim.PullOptions{Title: "Many", Body: "@librarian what does this change?", Head: "wide"})
	require.NoError(t, err)
	f.eventually("it is answered", func() bool { return len(f.comments("acme/many", p.Number)) == 1 })
	require.NotEmpty(t, base, "the briefing tells how to diff")
	require.Contains(t, diff, "+1: file 999")
	require.Contains(t, f.comments("acme/many", p.Number)[0].Body, "/blob/"+p.HeadSHA+"/f/0999.txt#L1")
	require.Contains(t, m.Calls()[0].Messages[0].Parts[0].Text, "It changes 1000 files")
	require.NoError(t, m.Done())
}

func TestFlowAConfiguredEventIsAskedByTheRepository(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, func(f *flow) {
		lids(f)
		f.cfg.Triggers.Events = []QuestionConfig{{On: "pull_request.opened", Question: "What is the rim of a lid?"}}
		f.cfg.Limits.UserRuns = 1 // nobody's: the repository has its own cap
	})
	for n := range 2 {
		p, err := f.sim.OpenPull("acme/lids", simReads, githubsim.PullOptions{Title: fmt.Sprintf("Widen lids %d", n), Body: "b", Head: "wide"})
		require.NoError(t, err)
		f.eventually("the event's question is answered", func() bool { return len(f.comments("acme/lids", p.Number)) == 1 })
		require.Contains(t, f.comments("acme/lids", p.Number)[0].Body, "/acme/lids/blob/"+p.HeadSHA+"/lid.go#L")
	}
}
