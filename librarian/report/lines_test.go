package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestP6_Lines(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]Range{
		"":               nil,
		" ":              nil,
		"42":             {{42, 42}},
		"80-140":         {{80, 140}},
		"80–140":         {{80, 140}}, // en dash
		"80—140":         {{80, 140}},
		"80 − 140":       {{80, 140}},
		"L80-L140":       {{80, 140}},
		"#L80-L140":      {{80, 140}},
		"l80-140":        {{80, 140}},
		"lines 80 to 90": {{80, 90}},
		"Line 7":         {{7, 7}},
		"80..90":         {{80, 90}},
		"140-80":         {{80, 140}},
		"10-20, 30-40":   {{10, 20}, {30, 40}},
		"10-20; 30":      {{10, 20}, {30, 30}},
		"10, 12 and 14":  {{10, 10}, {12, 12}, {14, 14}},
		"007":            {{7, 7}},
	} {
		got, err := parseLines(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{
		"80-", "-80", "-", "0", "0-10", "L", "abc", "80:140", "80-140-200", "80+", "1,234", "1,234-1,300", "10 20", "1e3", "80.5", "4²", "٣",
		"99999999999999999999", ",", "1-2,3-4,5-6,7-8,9-10,11-12,13-14,15-16,17-18,19-20,21-22",
	} {
		got, err := parseLines(in)
		require.Error(t, err, "%q gave %v", in, got)
		require.Nil(t, got)
	}
}
