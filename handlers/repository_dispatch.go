package handlers

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"math"

	"github.com/librarian-app/librarian/librarian"
)

// dispatchType is the type of a repository_dispatch that asks, and the key of its client_payload that says what.
const dispatchType = "librarian"

// repositoryDispatch handles what workflows and scripts ask.
type repositoryDispatch struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*repositoryDispatch) Handles() []string { return []string{"repository_dispatch"} }

// Handle implements githubapp.EventHandler. The sender asks; a bot, which the sender from within a workflow is, must be listed
// (L7). What cannot be understood becomes a fault, to be shown where the answer would be (L4).
func (h *repositoryDispatch) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env struct {
		envelope
		ClientPayload json.RawMessage `json:"client_payload"`
	}
	if err := decode(payload, &env); err != nil || !env.does(dispatchType) {
		return err
	}
	if env.Repository == nil {
		return incomplete(event)
	}
	who := env.Sender.principal()
	if h.asks.isBot(env.Sender) {
		return nil
	}
	if !h.asks.listens(who) {
		h.asks.o.Log.Warn("a dispatch by a bot that is not allow-listed", "bot", who.ID, "repository", env.Repository.ID, "delivery", delivery)
		return nil
	}
	asked := readDispatch(env.ClientPayload, h.asks.o.Names)
	r := asked.request()
	r.Principal = who
	r.Place.Trigger = librarian.TriggerDispatch
	r.Place.TriggerID = dispatchID(delivery, env.ClientPayload)
	return h.asks.enqueue(ctx, librarian.Delivery{ID: delivery, Event: event}, env.envelope, r)
}

// dispatchID gives a dispatch the number that other requests have from their comment: the same for each redelivery (O1), and
// another for each dispatch.
func dispatchID(delivery string, payload []byte) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(delivery + "\x00"))
	_, _ = h.Write(payload)
	return max(1, int64(h.Sum64()&math.MaxInt64)) //nolint:gosec // the sign is cut off
}
