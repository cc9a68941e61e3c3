package codetool

// The Data of each tool's result: what a program reads instead of the text. Lines count from 1 and are inclusive; paths are
// relative to the repository's root, and Repo is a key as the `repo` parameters take it.

// CheckoutData is what checkout_repo gives.
type CheckoutData struct {
	Repo          string `json:"repo"`
	Name          string `json:"name"` // owner/name
	Ref           string `json:"ref"`
	SHA           string `json:"sha"`
	DefaultBranch string `json:"default_branch,omitempty"`
	Files         int    `json:"files"`
	How           string `json:"how"`             // cached, fetched or cloned
	Lacks         string `json:"lacks,omitempty"` // what of it a clone on this machine has not got, in words
}

// ReadData is what read gives, and read_enclosing with its declaration.
type ReadData struct {
	Repo   string `json:"repo"`
	SHA    string `json:"sha"`
	Path   string `json:"path"`
	Kind   string `json:"kind"`            // file, binary, directory, symlink, submodule
	Start  int    `json:"start,omitempty"` // the lines shown; 0: none
	End    int    `json:"end,omitempty"`
	Total  int    `json:"total,omitempty"`  // lines of the file
	Symbol string `json:"symbol,omitempty"` // of read_enclosing
	Decl   string `json:"decl,omitempty"`   // its kind: function, class, …
	Method string `json:"method,omitempty"` // how it was found; empty: a window of lines
}

// GrepData is what grep gives: the matching lines, in the order of the text.
type GrepData struct {
	Repo    string      `json:"repo"`
	SHA     string      `json:"sha"`
	Matches []GrepMatch `json:"matches"`
	Limited bool        `json:"limited,omitempty"` // there may be more
}

// GrepMatch is one matching line.
type GrepMatch struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// FindData is what find gives.
type FindData struct {
	Repo    string   `json:"repo"`
	SHA     string   `json:"sha"`
	Paths   []string `json:"paths"`
	Limited bool     `json:"limited,omitempty"`
}

// ListData is what ls gives.
type ListData struct {
	Repo    string      `json:"repo"`
	SHA     string      `json:"sha"`
	Path    string      `json:"path"`
	Entries []ListEntry `json:"entries"`
	Limited bool        `json:"limited,omitempty"`
}

// ListEntry is one entry of a directory.
type ListEntry struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // file, directory, symlink, submodule
}

// FindCodeData is what find_code gives: candidates, best first. They were not shown and cannot be cited until they are read.
type FindCodeData struct {
	Repo       string      `json:"repo"`
	SHA        string      `json:"sha"`
	Candidates []Candidate `json:"candidates"`
	Confidence float64     `json:"confidence"` // 0 to 1: how likely the first ones answer the question
	Fit        string      `json:"fit"`        // the same in a word: "good"; "doubtful"; "poor", when it is not worth showing as an answer
}

// Candidate is a place that may answer a question.
type Candidate struct {
	Path   string   `json:"path"`
	Start  int      `json:"start"`
	End    int      `json:"end"`
	Line   int      `json:"line,omitempty"` // where Symbol begins, within the range
	Symbol string   `json:"symbol,omitempty"`
	Kind   string   `json:"kind,omitempty"`
	Score  float64  `json:"score"` // 0 to 1
	Why    []string `json:"why,omitempty"`
}

// OutlineData is what outline gives.
type OutlineData struct {
	Repo     string        `json:"repo"`
	SHA      string        `json:"sha"`
	Path     string        `json:"path"`
	Language string        `json:"language,omitempty"`
	Method   string        `json:"method"`
	Decls    []Declaration `json:"decls"`
}

// Declaration is one entry of an outline.
type Declaration struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
}
