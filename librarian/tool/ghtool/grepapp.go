package ghtool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian/tool"
)

// GrepAppURL is grep.app's MCP endpoint (https://vercel.com/blog/grep-a-million-github-repositories-via-mcp).
const GrepAppURL = "https://mcp.grep.app"

// GrepApp asks grep.app, a search over public repositories that is a third party: what is sent to it leaves the house.
// Zero fields take their defaults.
type GrepApp struct {
	URL      string          // GrepAppURL
	Client   *http.Client    // a client without credentials; its redirects are not followed
	Timeouts []time.Duration // of each attempt: 3, 5 and 7 seconds
	Pause    time.Duration   // between attempts: 300 ms
}

// maxAnswer bounds what is read of one answer.
const maxAnswer = 4 << 20

// grepQuery are the arguments of searchGitHub as its schema names them.
type grepQuery struct {
	Query      string   `json:"query"`
	MatchCase  bool     `json:"matchCase"`
	WholeWords bool     `json:"matchWholeWords"`
	Regexp     bool     `json:"useRegexp"`
	Repo       string   `json:"repo,omitempty"`
	Path       string   `json:"path,omitempty"`
	Language   []string `json:"language,omitempty"`
}

// codeHit is one file of a search's answer.
type codeHit struct {
	Repo     string        `json:"repo"`
	Path     string        `json:"path"`
	URL      string        `json:"url"`
	Snippets []codeSnippet `json:"snippets,omitempty"`
}

// codeSnippet is a piece of a file. Line is that of its first line; 0 is not known.
type codeSnippet struct {
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// errFinal marks a failure that another attempt would not mend.
var errFinal = errors.New("not to be tried again")

// search asks until an attempt succeeds or fails for good.
func (g GrepApp) search(ctx context.Context, q grepQuery) ([]codeHit, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": "searchGitHub", "arguments": q}})
	if err != nil {
		return nil, err
	}
	timeouts := g.Timeouts
	if timeouts == nil {
		timeouts = []time.Duration{3 * time.Second, 5 * time.Second, 7 * time.Second}
	}
	pause := g.Pause
	if pause == 0 {
		pause = 300 * time.Millisecond
	}
	for i, timeout := range timeouts {
		if i > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(pause):
			}
		}
		var texts []string
		if texts, err = g.attempt(ctx, timeout, body); err == nil {
			return parseHits(texts), nil
		}
		if errors.Is(err, errFinal) || ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

// attempt sends the call once and gives the text blocks of its result.
func (g GrepApp) attempt(ctx context.Context, timeout time.Duration, body []byte) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	url := g.URL
	if url == "" {
		url = GrepAppURL
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFinal, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("User-Agent", "librarian")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if g.Client != nil {
		client.Transport = g.Client.Transport
	}
	resp, err := client.Do(req)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("no answer within %s", timeout)
		}
		return nil, errors.New("no connection")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("HTTP status %d", resp.StatusCode)
		if resp.StatusCode < 500 {
			return nil, fmt.Errorf("%w (%w)", err, errFinal)
		}
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("no whole answer within %s", timeout)
	case err != nil:
		return nil, errors.New("the connection was cut")
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("an answer over %d MB (%w)", maxAnswer>>20, errFinal)
	}
	return readRPC(answer)
}

// readRPC takes the text blocks from a JSON-RPC answer, which stands in a plain JSON body or in the data lines of an event
// stream (MCP's streamable HTTP transport).
func readRPC(answer []byte) ([]string, error) {
	var reply struct {
		Result *struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			IsError bool `json:"isError"`
		} `json:"result"`
		Error *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	understood := false
	for _, message := range rpcMessages(answer) {
		reply.Result, reply.Error = nil, nil
		if json.Unmarshal(message, &reply) == nil && (reply.Result != nil || reply.Error != nil) {
			understood = true
			break
		}
	}
	switch {
	case !understood:
		return nil, fmt.Errorf("an answer that is not JSON-RPC (%w)", errFinal)
	case reply.Error != nil:
		return nil, fmt.Errorf("it answered %q (%w)", tool.Clip(reply.Error.Message, 300), errFinal)
	}
	var texts []string
	for _, c := range reply.Result.Content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	if reply.Result.IsError {
		return nil, fmt.Errorf("it answered %q (%w)", tool.Clip(strings.Join(texts, " "), 300), errFinal)
	}
	return texts, nil
}

// rpcMessages gives the body itself, or the data of each event in it.
func rpcMessages(answer []byte) [][]byte {
	if t := bytes.TrimSpace(answer); len(t) > 0 && t[0] == '{' {
		return [][]byte{t}
	}
	var messages [][]byte
	var data []byte
	for line := range bytes.Lines(append(answer, '\n', '\n')) {
		line = bytes.TrimRight(line, "\r\n")
		if after, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(after, []byte(" "))...), '\n')
		} else if len(line) == 0 && data != nil {
			messages, data = append(messages, data), nil
		}
	}
	return messages
}

// parseHits reads the text form of grep.app's results: "Repository:", "Path:", "URL:", "License:", "Snippets:", then pieces
// under "--- Snippet 1 (Line 39) ---". Code that looks like a heading is not one unless the next line fits too.
func parseHits(texts []string) []codeHit {
	var hits []codeHit
	for _, text := range texts {
		lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		for i := 0; i < len(lines); i++ {
			repo, isRepo := strings.CutPrefix(lines[i], "Repository: ")
			if isRepo && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "Path: ") {
				hits = append(hits, codeHit{Repo: repo, Path: strings.TrimPrefix(lines[i+1], "Path: ")})
				i++
				continue
			}
			if len(hits) == 0 {
				continue
			}
			hit := &hits[len(hits)-1]
			if n, ok := snippetLine(lines[i]); ok {
				hit.Snippets = append(hit.Snippets, codeSnippet{Line: n})
				continue
			}
			if len(hit.Snippets) == 0 {
				if url, ok := strings.CutPrefix(lines[i], "URL: "); ok {
					hit.URL = url
				}
				continue
			}
			hit.Snippets[len(hit.Snippets)-1].Text += lines[i] + "\n"
		}
	}
	return hits
}

// snippetLine reads "--- Snippet 2 (Line 90) ---".
func snippetLine(s string) (line int, ok bool) {
	rest, ok := strings.CutPrefix(s, "--- Snippet ")
	if !ok {
		return 0, false
	}
	rest, ok = strings.CutSuffix(rest, ") ---")
	_, number, found := strings.Cut(rest, " (Line ")
	n, err := strconv.Atoi(number)
	return n, ok && found && err == nil && n > 0
}
