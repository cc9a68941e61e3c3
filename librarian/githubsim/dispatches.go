package githubsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// Limits of a repository_dispatch.
// https://docs.github.com/en/rest/repos/repos#create-a-repository-dispatch-event
const (
	maxDispatchType    = 100      // characters of event_type
	maxDispatchKeys    = 10       // top-level keys of client_payload
	maxDispatchPayload = 64 << 10 // bytes of it
)

// Dispatch sends a repository_dispatch as somebody. payload is marshalled and must be an object, or nil for none.
func (s *Server) Dispatch(fullName, login, eventType string, payload any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err == nil {
		var by actor
		if by, err = s.person(login); err == nil {
			var raw []byte
			if raw, err = json.Marshal(payload); err == nil {
				err = s.dispatch(r, by, eventType, raw)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("githubsim: dispatch: %w", err)
	}
	return nil
}

// dispatch checks what GitHub checks and sends the event; its action is the caller's own name for it.
func (s *Server) dispatch(r *repo, by actor, eventType string, payload json.RawMessage) error {
	invalid := func(format string, args ...any) error {
		return &apiError{status: http.StatusUnprocessableEntity, message: "Invalid request.\n\n" + fmt.Sprintf(format, args...)}
	}
	if eventType == "" {
		return invalid("%q wasn't supplied.", "event_type")
	}
	if len([]rune(eventType)) > maxDispatchType {
		return invalid("event_type is too long (maximum is %d characters).", maxDispatchType)
	}
	var keys map[string]json.RawMessage
	if len(payload) > 0 {
		if err := json.Unmarshal(payload, &keys); err != nil {
			return invalid("For 'properties/client_payload', %s is not an object.", bytes.TrimSpace(payload))
		}
	}
	switch {
	case len(keys) > maxDispatchKeys:
		return invalid("No more than %d properties are allowed; %d were supplied.", maxDispatchKeys, len(keys))
	case len(payload) > maxDispatchPayload:
		return invalid("client_payload is too large.")
	}
	event := object{"branch": r.defaultBranch, "client_payload": nil}
	if keys != nil {
		event["client_payload"] = keys
	}
	s.emit(r, by, "repository_dispatch", eventType, event)
	return nil
}

func createDispatch(c *call) (reply, error) {
	r, err := c.target(writes("write", "contents"))
	if err != nil {
		return reply{}, err
	}
	var in struct {
		EventType     string          `json:"event_type"`
		ClientPayload json.RawMessage `json:"client_payload"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	if err := c.dispatch(r, c.caller.actor(), in.EventType, in.ClientPayload); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}
