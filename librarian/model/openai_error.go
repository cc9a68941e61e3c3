package model

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// tooLong are the words in which servers say that a conversation is too long, OpenAI's code first.
var tooLong = []string{"context_length_exceeded", "maximum context length", "context length", "context window", "context size",
	"exceed_context_size", "prompt is too long", "input is too long", "too many tokens", "exceeds the maximum number of tokens"}

// openaiFailure reads an error that came inside a stream; nil: it is none. Those that came instead of one are read by
// openaiRefusal.
func openaiFailure(err error) *failure {
	if data, ok := streamError(err); ok {
		return streamFailure(data)
	}
	return nil
}

// openaiRefusal reads an error of a server that speaks OpenAI's language more or less: an object under "error", a word
// there, or a message elsewhere.
func openaiRefusal(status int, header http.Header, body []byte) *failure {
	var loose struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	var e struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	message := ""
	if json.Unmarshal(body, &loose) == nil {
		_ = json.Unmarshal(loose.Error, &e) // a word has no fields
		message = e.Message
		for _, word := range []json.RawMessage{loose.Error, loose.Detail} {
			if message == "" {
				_ = json.Unmarshal(word, &message)
			}
		}
		if message == "" {
			message = loose.Message
		}
	}
	if text := strings.TrimSpace(string(body)); message == "" && text != "" && !strings.HasPrefix(text, "<") {
		message = text
	}
	if message == "" {
		message = http.StatusText(status)
	}
	return refineOpenAI(statusFailure(status, message, header), strings.Trim(string(e.Code), `"`), e.Type)
}

// refineOpenAI tells apart what the status does not.
func refineOpenAI(f *failure, code, kind string) *failure {
	m := strings.ToLower(code + " " + kind + " " + f.e.Message)
	switch {
	case strings.Contains(m, "insufficient_quota") || strings.Contains(m, "invalid_api_key") || strings.Contains(m, "billing_hard_limit"):
		f.e.Kind, f.retry = ErrAuth, false // waiting does not help
	case f.e.Kind == ErrInvalid || f.e.Kind == ErrOverloaded && (f.e.Status == 0 || f.e.Status == http.StatusInternalServerError):
		for _, words := range tooLong {
			if strings.Contains(m, words) {
				f.e.Kind, f.retry = ErrTooLong, false
			}
		}
	}
	return f
}

// streamError finds the event by which a stream of the SDK's reported an error.
func streamError(err error) (json.RawMessage, bool) {
	if e, ok := errors.AsType[*ssestream.StreamError](err); ok {
		return e.Event.Data, true
	}
	return nil, false
}

// streamFailure reads an error that came inside a stream, where the status was 200.
func streamFailure(data []byte) *failure {
	type body struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"` // a word, or a number where it is a status
	}
	var ev struct {
		body
		Error *body `json:"error"`
	}
	_ = json.Unmarshal(data, &ev) // what does not parse has no fields
	b := ev.body
	if ev.Error != nil {
		b = *ev.Error
	}
	if b.Message == "" {
		b.Message = "the provider reported an error in its stream"
	}
	var status int
	code := strings.Trim(string(b.Code), `"`)
	if json.Unmarshal(b.Code, &status) == nil && status >= 400 && status < 600 {
		return refineOpenAI(statusFailure(status, b.Message, http.Header{}), code, b.Type)
	}
	f := &failure{e: &Error{Kind: ErrOverloaded, Message: b.Message}, retry: true}
	switch {
	case strings.Contains(code+b.Type, "rate_limit"):
		f.e.Kind = ErrRateLimited
	case strings.Contains(code+b.Type, "invalid"):
		f.e.Kind, f.retry = ErrInvalid, false
	}
	return refineOpenAI(f, code, b.Type)
}
