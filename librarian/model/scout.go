package model

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// ScoutName is the model that is there without a key.
const ScoutName = "builtin/scout"

// Bounds of a scout's run.
const (
	scoutRepos      = 4   // repositories opened, in the order they are named
	scoutCandidates = 10  // asked of find_code per repository
	scoutReads      = 4   // places read and cited, of one repository
	scoutElsewhere  = 2   // of them, in doubt, of other parts of it
	scoutWindow     = 120 // lines cited of one place at most
	maxProject      = 40  // characters of a project's name that is looked for
)

// Scout is builtin/scout: no language model, a ranked code search that takes its turns as one does. It looks at the
// conversation, calls the tools that every model has, reads their results by their Data, and ends with provide_results.
// Its answer is made of names, signatures and doc comments that were read, and says what it is.
type Scout struct{}

// Name implements Model.
func (Scout) Name() string { return ScoutName }

// Generate implements Model. It never fails but for a conversation that was not begun by agent.Prompt.
func (Scout) Generate(ctx context.Context, call Call) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	c, err := readConversation(call)
	if err != nil {
		return Reply{}, err
	}
	uses := c.next()
	parts := make([]Part, len(uses))
	for i, u := range uses {
		args, err := json.Marshal(u.args)
		if err != nil {
			return Reply{}, fmt.Errorf("model: scout: %w", err)
		}
		parts[i] = Part{Kind: ToolCall, CallID: fmt.Sprintf("scout-%d-%d", len(call.Messages), i), Tool: u.tool, Args: args}
	}
	return Reply{Message: Message{V: Version, Role: Assistant, Parts: parts, Provider: "builtin"}, Stop: StopTools}, nil
}

type use struct {
	tool string
	args map[string]any
}

// brief is the part of agent.Briefing that scout needs; the shapes below are those of the tools' Data. A test in app holds
// them together.
type brief struct {
	Question string   `json:"question"`
	Place    string   `json:"place"`
	Repos    []string `json:"repos"`

	Pull   *briefPull   `json:"pull"`
	Review *briefReview `json:"review"`
}

type scoutCheckout struct {
	Repo  string `json:"repo"`
	Name  string `json:"name"`
	Lacks string `json:"lacks"` // what of it could not be had, in words
}

type scoutFound struct {
	Repo       string           `json:"repo"`
	Candidates []scoutCandidate `json:"candidates"`
	Confidence float64          `json:"confidence"`
	Fit        string           `json:"fit"` // good, doubtful or poor
}

type scoutCandidate struct {
	Path   string   `json:"path"`
	Start  int      `json:"start"`
	End    int      `json:"end"`
	Line   int      `json:"line"`
	Symbol string   `json:"symbol"`
	Kind   string   `json:"kind"`
	Score  float64  `json:"score"`
	Why    []string `json:"why"`

	repo  string
	text  string // of a place that was read
	from  int    // the first line cited
	to    int    // the last one
	link  bool   // the question links to it
	lined bool   // and to lines of it
}

type scoutRead struct {
	Repo   string `json:"repo"`
	Path   string `json:"path"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Symbol string `json:"symbol"`
	Decl   string `json:"decl"`
}

// conversation is what scout knows by now.
type conversation struct {
	brief     brief
	tools     map[string]bool   // that the run has
	asked     map[string]int    // calls so far, by tool
	calls     map[string]string // the repository that a call named, by its id
	added     map[string]bool   // the calls of git_log that asked who names something
	opened    []scoutCheckout
	failures  []unopened // of checkouts, the last of each
	found     []scoutFound
	read      []scoutCandidate
	repos     []string // that searches for them gave
	hits      []repoHit
	searched  map[string][]repoHit // by the words of the search
	readme    map[string]string    // the first sentence of a repository's README
	queries   map[string]string    // the words of a call of search_repos, by its id
	lastQuery string               // of the newest search
	past      past
	patterns  map[string]string // of calls of grep, by their ids
	diff      string            // what the pull request changes
	looked    []string          // names that were looked for
	cut       []string          // of them, those with more uses than were asked for
	uses      []usage           // of them
}

// unopened is a repository that could not be opened.
type unopened struct {
	repo    string
	text    string // why, in words
	passing bool   // it may be had when it is asked for once more
}

func readConversation(call Call) (*conversation, error) {
	c := &conversation{asked: map[string]int{}, tools: map[string]bool{}, calls: map[string]string{}, added: map[string]bool{},
		searched: map[string][]repoHit{}, readme: map[string]string{}, queries: map[string]string{}, patterns: map[string]string{}}
	for _, t := range call.Tools {
		c.tools[t.Name] = true
	}
	begin := -1
	for i, m := range call.Messages { // the newest briefing is the question; a continued run holds older ones, without Data
		for _, p := range m.Parts {
			if m.Role == User && p.Kind == Text && len(p.Data) > 0 {
				begin = i
				if err := json.Unmarshal(p.Data, &c.brief); err != nil {
					return nil, fmt.Errorf("model: scout: briefing: %w", err)
				}
			}
		}
	}
	if begin < 0 {
		return nil, fmt.Errorf("model: scout: the conversation holds no briefing")
	}
	for _, m := range call.Messages[begin:] {
		for _, p := range m.Parts {
			switch p.Kind {
			case ToolCall:
				c.asked[p.Tool]++
				var args struct {
					Repo  string `json:"repo"`
					Added string `json:"added"`
					Owner string `json:"owner"`
					Query string `json:"query"`

					Pattern string `json:"pattern"`
				}
				if json.Unmarshal(p.Args, &args) == nil {
					if args.Owner != "" {
						args.Repo = args.Owner + "/" + args.Repo
					}
					if p.Tool == "search_repos" {
						c.queries[p.CallID], c.lastQuery = args.Query, args.Query
					}
					c.patterns[p.CallID] = args.Pattern
					c.calls[p.CallID], c.added[p.CallID] = args.Repo, args.Added != ""
				}
			case ToolResult:
				c.take(p)
			}
		}
	}
	return c, nil
}

func (c *conversation) take(p Part) {
	switch p.Tool {
	case "checkout_repo":
		var d scoutCheckout
		name := c.calls[p.CallID]
		c.failures = slices.DeleteFunc(c.failures, func(f unopened) bool { return f.repo == name })
		if p.IsError || json.Unmarshal(p.Data, &d) != nil {
			first, _, _ := strings.Cut(p.Text, "\n")
			c.failures = append(c.failures, unopened{name, first, passing.MatchString(p.Text)})
			return
		}
		if !slices.ContainsFunc(c.opened, func(o scoutCheckout) bool { return o.Repo == d.Repo }) {
			c.opened = append(c.opened, d)
		}
	case "find_code":
		var d scoutFound
		if !p.IsError && json.Unmarshal(p.Data, &d) == nil {
			d.raisedFirst()
			c.found = append(c.found, d)
		}
	case "search_repos":
		if !p.IsError {
			c.takeRepos(c.queries[p.CallID], p.Data)
		}
	case "read_github_file":
		if s := readmeSentence(p.Text); !p.IsError && s != "" {
			c.readme[c.calls[p.CallID]] = s
		}
	case "git_diff":
		if !p.IsError {
			c.diff = p.Text
		}
	case "grep":
		var d struct {
			Matches []scoutCandidate `json:"matches"`
			Limited bool             `json:"limited"`
		}
		if !p.IsError && json.Unmarshal(p.Data, &d) == nil {
			c.takeUses(c.patterns[p.CallID], p, d.Matches, d.Limited)
		}
	case "git_blame":
		if !p.IsError {
			_ = json.Unmarshal(p.Data, &c.past.blame) // without it there is none
			slices.SortStableFunc(c.past.blame.Shares, func(a, b scoutCommit) int { return strings.Compare(b.Date, a.Date) })
		}
	case "git_log":
		var d scoutCommits
		if p.IsError || json.Unmarshal(p.Data, &d) != nil {
			return
		}
		slices.SortStableFunc(d.Commits, func(a, b scoutCommit) int { return strings.Compare(b.Date, a.Date) })
		if c.added[p.CallID] {
			c.past.named = d
		} else {
			c.past.file = d
		}
	case "read", "read_enclosing":
		c.takeRead(p)
	}
}

// takeRead keeps a place that was read. Of a short declaration all of it is cited, of a long one what was found in it.
func (c *conversation) takeRead(p Part) {
	var d scoutRead
	if p.IsError && len(c.linked()) > 0 && len(c.found) == 0 {
		first, _, _ := strings.Cut(p.Text, "\n")
		c.failures = append(c.failures, unopened{text: first})
	}
	if p.IsError || json.Unmarshal(p.Data, &d) != nil || d.Start == 0 {
		return
	}
	for _, w := range c.wanted() {
		if w.repo != d.Repo || w.Path != d.Path || w.line() > d.End || w.line() < d.Start || c.has(w) {
			continue
		}
		w.text, w.from, w.to = p.Text, d.Start, d.End
		if w.link {
			w.Symbol, w.Kind = d.Symbol, d.Decl
			if w.End > w.Start { // those lines, and not all of the declaration that they begin in
				w.from, w.to = max(w.Start, d.Start), min(w.End, d.End)
			}
		}
		if d.End-d.Start >= scoutWindow {
			w.from = max(w.line(), d.Start)
			w.to = min(max(w.End, w.from), d.End, w.from+scoutWindow-1)
		}
		c.read = append(c.read, w)
		return
	}
}

// passing is what a tool says of a fault that may be over by now: a host that was down or busy.
var passing = regexp.MustCompile(`(?i)\btry (once more|again later)\b`)

// next decides scout's turn.
func (c *conversation) next() []use {
	switch {
	case c.asked["search_repos"] == 0 && c.tools["search_repos"] && len(c.repoSearches()) > 0 && c.asked["checkout_repo"] == 0:
		return c.repoSearches()
	case len(c.again()) > 0:
		return c.again()
	case len(c.readmes()) > 0:
		return c.readmes()
	case c.asked["checkout_repo"] == 0 && len(c.scope()) > 0:
		var uses []use
		for _, r := range c.scope() {
			uses = append(uses, use{"checkout_repo", map[string]any{"repo": c.linkOr(r)}})
		}
		return uses
	case c.asked["checkout_repo"] == len(c.scope()) && slices.ContainsFunc(c.failures, func(f unopened) bool { return f.passing }):
		var uses []use
		for _, f := range c.failures {
			if f.passing {
				uses = append(uses, use{"checkout_repo", map[string]any{"repo": f.repo}})
			}
		}
		return uses
	case c.asksUses() && len(c.useUses()) > 0:
		return c.useUses()
	case c.asksUses():
		return []use{{"provide_results", c.usesAnswer()}}
	case c.asked["find_code"] == 0 && len(c.opened) > 0 && !c.readsLinkOnly():
		var uses []use
		for _, o := range c.opened {
			uses = append(uses, use{"find_code", map[string]any{"repo": o.Repo, "question": c.question(), "also": otherStyles(c.question()), "limit": scoutCandidates}})
		}
		return uses
	case len(c.read) == 0 && c.asked["read"]+c.asked["read_enclosing"] <= c.linksTried() && len(c.wanted()) > 0:
		var uses []use
		for _, w := range c.wanted() {
			uses = append(uses, c.reading(w))
		}
		return uses
	case c.wantsPast():
		return c.pastUses()
	}
	return []use{{"provide_results", c.answer()}}
}

// reading is how a place is read: with its doc comment where it is a declaration.
func (c *conversation) reading(w scoutCandidate) use {
	if (w.Symbol != "" || w.link && w.lined) && c.tools["read_enclosing"] {
		return use{"read_enclosing", map[string]any{"repo": w.repo, "path": w.Path, "line": w.line()}}
	}
	return use{"read", map[string]any{"repo": w.repo, "path": w.Path, "offset": w.Start, "limit": min(w.End-w.Start+1, scoutWindow)}}
}

var (
	// projectName is a word that can only be the name of something: hyphens or dots inside.
	projectName = regexp.MustCompile("(?:^|[\\s`\"'(])([A-Za-z][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+)+)(?:$|[\\s`\"'),;:?!])")
	// projectEnds are what follows the last dot in names of projects; other dotted words are code.
	projectEnds = []string{"io", "net", "nvim", "vim"}
	fileName    = regexp.MustCompile(`(?i)\.(go|jsx?|tsx?|mjs|py|rb|rs|java|kt|c|h|cc|cpp|hpp|cs|php|swift|scala|exs?|lua|sh|md|json|ya?ml|toml|txt|html|css|sql|proto|lock|mod|sum|cfg|ini|conf)$`)
)

// repoQuery is what to look for among repositories: the project that a question names which no scope names, or, without any
// scope, the words of the question. Empty: there is nothing to look for.
func (c *conversation) repoQuery() string {
	name := c.project()
	switch {
	case name != "":
		return name + " in:name"
	case len(c.brief.Repos) > 0 || c.brief.Place != "":
		return ""
	}
	var words []string
	lang := c.language() // a search has it as its own argument
	for w := range strings.FieldsFuncSeq(strings.ToLower(c.brief.Question), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r > 0x7f)
	}) {
		if len(w) > 2 && !stopWords[w] && len(words) < 4 && (lang == "" || languages[w] != lang) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// question is what to look for in the code: the question without the names of the repositories that it is put to, which stand
// nowhere in them and would only make the best match look poor.
func (c *conversation) question() string {
	q := c.withoutNames(subject(c.withoutLinks()))
	for _, r := range c.brief.Repos {
		q = regexp.MustCompile(`(?i)(^|[^\w./-])(?:https?://[\w.:-]+/)?`+regexp.QuoteMeta(r)+`(?:\.git\b)?(?:([^\w/-])|$)`).ReplaceAllString(q, "$1$2")
	}
	if strings.ContainsFunc(q, unicode.IsLetter) {
		return strings.TrimSpace(q)
	}
	return c.brief.Question
}

// project is a project that the question names in passing, as in "how does drizzle-orm do this?", asked about nothing but
// the thread's own repository.
func (c *conversation) project() string {
	if len(c.brief.Repos) > 1 || len(c.brief.Repos) == 1 && c.brief.Repos[0] != c.brief.Place {
		return ""
	}
	own := strings.ToLower(c.brief.Place)
	for _, m := range projectName.FindAllStringSubmatch(c.brief.Question, -1) {
		w := strings.ToLower(m[1])
		if dot := strings.LastIndexByte(w, '.'); dot >= 0 && !slices.Contains(projectEnds, w[dot+1:]) || len(w) > maxProject {
			continue // "res.send" is code, and what is that long may be a key
		}
		if !fileName.MatchString(w) && !strings.HasSuffix(own, "/"+w) {
			return w
		}
	}
	return ""
}

// scope is what to open: the project that was found by its exact name, then what was named.
func (c *conversation) scope() []string {
	var out []string
	if name := c.project(); name != "" {
		for _, r := range c.repos {
			if strings.HasSuffix(strings.ToLower(r), "/"+name) { // the one with most stars comes first
				out = append(out, r)
				break
			}
		}
	}
	for _, r := range append(c.comparedRepos(), c.brief.Repos...) {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if len(c.brief.Repos) == 0 && c.brief.Place != "" && !slices.Contains(out, c.brief.Place) {
		out = append(out, c.brief.Place)
	}
	return out[:min(len(out), scoutRepos)]
}
