package codesearch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTree measures indexing and searching a tree of your own, read from disk:
//
//	CODESEARCH_TREE=path/to/tree go test ./checkout/codesearch -run '^$' -bench Tree -benchtime 1x
//
// Queries are the questions in testdata. Lines a second of processor time, and processor time a query, are what a machine busy with other
// things does not change; p50 and p95 are by the clock.
func BenchmarkTree(b *testing.B) {
	dir := os.Getenv("CODESEARCH_TREE")
	if dir == "" {
		b.Skip("CODESEARCH_TREE names no tree")
	}
	questions := benchQuestions(b)
	src := TreeSource{os.DirFS(dir)}
	for b.Loop() {
		busy, start := cpuTime(b), time.Now()
		ix, err := Build(b.Context(), src, Options{Workers: 1})
		require.NoError(b, err)
		built, busy := time.Since(start), cpuTime(b)-busy
		file := filepath.Join(b.TempDir(), "index")
		require.NoError(b, ix.Save(file))
		size, err := os.Stat(file)
		require.NoError(b, err)
		lines, text := textOf(b, src)

		ix, err = Open(file, src)
		require.NoError(b, err)
		var took []time.Duration
		var searching time.Duration
		for range 2 { // the first round warms up
			took = took[:0]
			searching = cpuTime(b)
			for _, q := range questions {
				start := time.Now()
				_, err := ix.Search(b.Context(), Query{Question: q})
				require.NoError(b, err)
				took = append(took, time.Since(start))
			}
		}
		searching = cpuTime(b) - searching
		slices.Sort(took)
		b.ReportMetric(float64(len(ix.files)), "files")
		b.ReportMetric(built.Seconds(), "index-s")
		b.ReportMetric(float64(lines)/busy.Seconds(), "lines/cpu-s")
		b.ReportMetric(100*float64(size.Size())/float64(text), "%-of-text")
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		b.ReportMetric(float64(searching.Microseconds())/1000/float64(len(questions)), "cpu-ms/query")
		b.ReportMetric(float64(usage(b).Maxrss)/1024, "peak-MB")
	}
}

func usage(b *testing.B) (u syscall.Rusage) {
	b.Helper()
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	u := usage(b)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// textOf counts the lines and bytes of a tree's text files.
func textOf(b *testing.B, src Source) (lines, size int64) {
	b.Helper()
	files, err := src.Files(b.Context())
	require.NoError(b, err)
	for _, f := range files {
		text, err := src.Read(b.Context(), f, MaxFile)
		if err == nil && bytes.IndexByte(text[:min(len(text), 8000)], 0) < 0 {
			lines += int64(bytes.Count(text, []byte{'\n'}))
			size += int64(len(text))
		}
	}
	return lines, size
}

func benchQuestions(b *testing.B) (out []string) {
	b.Helper()
	f, err := os.Open("testdata/questions-dev.jsonl")
	require.NoError(b, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var q struct{ Question string }
		require.NoError(b, json.Unmarshal(lines.Bytes(), &q))
		out = append(out, q.Question)
	}
	return out
}
