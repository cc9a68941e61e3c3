package githubsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// showDeliveries is how long GitHub shows deliveries and takes requests to send them again.
// https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
const showDeliveries = 3 * 24 * time.Hour

// deliveriesOf lists an App's ended deliveries, newest first, as GitHub does.
func (c *call) deliveriesOf(a *app) []Delivery {
	oldest := c.now().Add(-showDeliveries)
	all := slices.DeleteFunc(c.Deliveries(), func(d Delivery) bool {
		return d.AppID != a.ID || d.Delivered.IsZero() || d.Delivered.Before(oldest)
	})
	slices.Reverse(all)
	return all
}

func deliveryJSON(d Delivery) object {
	o := object{"id": d.ID, "guid": d.GUID, "delivered_at": stamp(d.Delivered), "redelivery": d.Redelivery, "duration": d.Duration.Seconds(),
		"status": d.Status, "status_code": d.StatusCode, "event": d.Event, "action": orNil(d.Action), "installation_id": nil, "repository_id": nil,
		"throttled_at": nil}
	if d.Installation != 0 {
		o["installation_id"] = d.Installation
	}
	if d.Repository != 0 {
		o["repository_id"] = d.Repository
	}
	return o
}

func hookConfig(c *call) (reply, error) {
	return ok(object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": c.caller.app.hookURL})
}

// listDeliveries pages by cursor: the id of the first delivery of the next page.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func listDeliveries(c *call) (reply, error) {
	all := c.deliveriesOf(c.caller.app)
	if cursor := c.query.Get("cursor"); cursor != "" {
		from, err := strconv.ParseInt(cursor, 10, 64)
		if err != nil {
			return reply{}, &apiError{status: http.StatusUnprocessableEntity, message: "Invalid cursor"}
		}
		n := slices.IndexFunc(all, func(d Delivery) bool { return d.ID <= from })
		if n < 0 {
			n = len(all)
		}
		all = all[n:]
	}
	if status := c.query.Get("status"); status != "" {
		all = slices.DeleteFunc(all, func(d Delivery) bool { return (status == "success") != (d.StatusCode >= 200 && d.StatusCode < 400) })
	}
	size := min(atoi(c.query.Get("per_page"), 30), 100)
	h := http.Header{}
	if len(all) > size {
		q := c.r.URL.Query()
		q.Set("cursor", strconv.FormatInt(all[size].ID, 10))
		h.Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, c.base, c.r.URL.EscapedPath(), q.Encode()))
		all = all[:size]
	}
	out := []object{}
	for _, d := range all {
		out = append(out, deliveryJSON(d))
	}
	return reply{body: out, header: h}, nil
}

func (c *call) findDelivery() (Delivery, error) {
	id, err := c.id("id")
	if err != nil {
		return Delivery{}, err
	}
	for _, d := range c.deliveriesOf(c.caller.app) {
		if d.ID == id {
			return d, nil
		}
	}
	return Delivery{}, notFound()
}

func getDelivery(c *call) (reply, error) {
	d, err := c.findDelivery()
	if err != nil {
		return reply{}, err
	}
	o := deliveryJSON(d)
	o["url"] = d.URL
	o["request"] = object{"headers": flat(d.Header), "payload": json.RawMessage(d.Payload)}
	o["response"] = object{"headers": flat(d.ReplyHeader), "payload": d.Reply}
	return ok(o)
}

func flat(h http.Header) object {
	o := object{}
	for k := range h {
		o[k] = h.Get(k)
	}
	return o
}

func redeliver(c *call) (reply, error) {
	d, err := c.findDelivery()
	if err != nil {
		return reply{}, err
	}
	c.sendAgain(d)
	return reply{status: http.StatusAccepted, body: object{}}, nil
}
