package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// format tells the two kinds of data apart: they have different metrics.
type format int

const (
	formatPlaces format = iota // JSONL: file and function accuracy
	formatNDCG                 // repos.json and annotations/: NDCG@10
)

// Place is a right place: a path, with lines where they are known (0 where not).
type Place struct {
	Path   string `json:"path"`
	Symbol string `json:"symbol,omitempty"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
}

// Question is one question with its right places.
type Question struct {
	ID         string  `json:"id"`
	Repo       string  `json:"repo"` // owner/name
	Sha        string  `json:"sha"`
	Lang       string  `json:"lang"`
	Kind       string  `json:"kind"`
	Difficulty string  `json:"difficulty"`
	Text       string  `json:"question"`
	Gold       []Place `json:"gold"`
	Also       []Place `json:"also"`

	root string // only files below it count
	name string // the data's own name of the repository
}

// Set is one data set.
type Set struct {
	Name      string
	Format    format
	Questions []Question
}

// Load reads a data set: a JSONL file, a folder with repos.json and annotations/, or a folder of JSONL files (taken as one set).
func Load(data string) (Set, error) {
	info, err := os.Stat(data)
	if err != nil {
		return Set{}, fmt.Errorf("bench: load: %w", err)
	}
	if !info.IsDir() {
		return loadPlaces(filepath.Base(data), data)
	}
	if _, err := os.Stat(filepath.Join(data, "repos.json")); err == nil {
		return loadAnnotations(data)
	}
	files, _ := filepath.Glob(filepath.Join(data, "*.jsonl"))
	if len(files) == 0 {
		return Set{}, fmt.Errorf("bench: load: %s holds neither repos.json nor *.jsonl", data)
	}
	return loadPlaces(filepath.Base(data), files...)
}

func loadPlaces(name string, files ...string) (Set, error) {
	set := Set{Name: name, Format: formatPlaces}
	for _, p := range files {
		f, err := os.Open(p)
		if err != nil {
			return set, fmt.Errorf("bench: load: %w", err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			if strings.TrimSpace(lines.Text()) == "" {
				continue
			}
			var q Question
			if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
				_ = f.Close()
				return set, fmt.Errorf("bench: load %s line %d: %w", filepath.Base(p), n, err)
			}
			q.name = q.Repo
			set.Questions = append(set.Questions, q)
		}
		err = lines.Err()
		_ = f.Close()
		if err != nil {
			return set, fmt.Errorf("bench: load %s: %w", filepath.Base(p), err)
		}
	}
	return set, nil
}

// target is a path alone or with lines.
type target struct {
	Path  string `json:"path"`
	Start int    `json:"start_line"`
	End   int    `json:"end_line"`
}

func (t *target) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &t.Path)
	}
	type plain target
	return json.Unmarshal(b, (*plain)(t))
}

func loadAnnotations(dir string) (Set, error) {
	set := Set{Name: filepath.Base(dir), Format: formatNDCG}
	raw, err := os.ReadFile(filepath.Join(dir, "repos.json"))
	if err != nil {
		return set, fmt.Errorf("bench: load: %w", err)
	}
	var repos []struct{ Name, Repo, Language, Revision, Root string }
	if err := json.Unmarshal(raw, &repos); err != nil {
		return set, fmt.Errorf("bench: load repos.json: %w", err)
	}
	sort.Slice(repos, func(i, j int) bool { return repos[i].Name < repos[j].Name })
	for _, r := range repos {
		raw, err := os.ReadFile(filepath.Join(dir, "annotations", r.Name+".json"))
		if err != nil {
			return set, fmt.Errorf("bench: load: %w", err)
		}
		var items []struct {
			Repo, Query, Category string
			Relevant, Secondary   []target
		}
		if err := json.Unmarshal(raw, &items); err != nil {
			return set, fmt.Errorf("bench: load %s: %w", r.Name, err)
		}
		for i, it := range items {
			q := Question{ID: fmt.Sprintf("%s#%d", r.Name, i), Repo: r.Repo, Sha: r.Revision, Lang: r.Language, Kind: it.Category, Text: it.Query, root: r.Root, name: r.Name}
			if it.Repo != "" {
				q.name = it.Repo
			}
			if q.Kind == "" {
				q.Kind = category(it.Query)
			}
			for _, t := range append(it.Relevant, it.Secondary...) {
				q.Gold = append(q.Gold, Place{Path: t.Path, Start: t.Start, End: t.End})
			}
			set.Questions = append(set.Questions, q)
		}
	}
	return set, nil
}

// category guesses a query's kind as the peer's harness does.
func category(q string) string {
	switch {
	case !strings.Contains(strings.TrimSpace(q), " "):
		return "symbol"
	case strings.HasPrefix(strings.ToLower(q), "how "):
		return "architecture"
	}
	return "semantic"
}

// counts reports whether a file takes part in the peer's benchmark: source files by extension, outside of dependency and build folders
// (its README).
func counts(p, root string) bool {
	if root != "" && !strings.HasPrefix(p, root+"/") {
		return false
	}
	switch strings.TrimPrefix(strings.ToLower(path.Ext(p)), ".") {
	case "py", "js", "jsx", "ts", "tsx", "go", "rs", "java", "kt", "kts", "rb", "php", "c", "h", "cpp", "hpp", "cs", "swift", "scala", "sbt", "ex", "exs", "dart", "lua", "sql", "sh", "bash", "zig", "hs":
	default:
		return false
	}
	for d := range strings.SplitSeq(path.Dir(p), "/") {
		switch d {
		case "node_modules", "vendor", "build", "dist", "target", "__pycache__", ".git", ".venv", "venv", "_build", "deps", ".build", ".gradle", ".next", ".tox", "out":
			return false
		}
	}
	return true
}
