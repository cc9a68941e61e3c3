package codesearch

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// TestGoldens holds the ranking to 36 questions on small trees made for it. Each names the worst rank that is still good.
func TestGoldens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/goldens/*.txtar")
	require.NoError(t, err)
	total := 0
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		require.NoError(t, err)
		texts := map[string]string{}
		for _, f := range a.Files {
			texts[f.Name] = string(f.Data)
		}
		questions := strings.Split(strings.TrimSpace(texts["questions"]), "\n")
		delete(texts, "questions")
		ix, err := Build(t.Context(), tree(texts), Options{})
		require.NoError(t, err)
		total += len(questions)
		for _, line := range questions {
			parts := strings.Split(line, " | ")
			require.Len(t, parts, 3, line)
			t.Run(parts[1], func(t *testing.T) {
				t.Parallel()
				worst, err := strconv.Atoi(parts[0])
				require.NoError(t, err)
				path, symbol, _ := strings.Cut(parts[2], " ")
				res, err := ix.Search(t.Context(), Query{Question: parts[1]})
				require.NoError(t, err)
				rank, list := 0, ""
				for i, c := range res.Candidates {
					list += fmt.Sprintf("\n%d. %s %s %v", i+1, c.Path, c.Symbol, c.Why)
					if rank == 0 && c.Path == path && (symbol == "*" || c.Symbol == symbol || strings.Contains(strings.Join(c.Why, " "), "beside "+symbol)) {
						rank = i + 1
					}
				}
				require.True(t, rank > 0 && rank <= worst, "wanted %s at rank %d or better, is at %d:%s", parts[2], worst, rank, list)
			})
		}
	}
	require.Equal(t, 36, total)
}
