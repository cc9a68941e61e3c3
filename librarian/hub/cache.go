package hub

import (
	"container/list"
	"net/http"
	"sync"

	"github.com/gregjones/httpcache"
)

// lru keeps answers up to a number of bytes; the ones not used for longest go first. It is an [httpcache.Cache].
type lru struct {
	max int64

	mu    sync.Mutex
	bytes int64
	order *list.List // of lruEntry, the last used in front
	byKey map[string]*list.Element
}

type lruEntry struct {
	key  string
	body []byte
}

var _ httpcache.Cache = (*lru)(nil)

func newLRU(maxBytes int64) *lru {
	return &lru{max: maxBytes, order: list.New(), byKey: map[string]*list.Element{}}
}

func (e lruEntry) size() int64 { return int64(len(e.key) + len(e.body)) }

// Get returns what was kept under key.
func (c *lru) Get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(el)
	return el.Value.(lruEntry).body, true
}

// Set keeps body under key. A body of more than a quarter of the bound is not kept: it would drive out everything else.
func (c *lru) Set(key string, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	e := lruEntry{key, body}
	if e.size() > c.max/4 {
		return
	}
	c.byKey[key] = c.order.PushFront(e)
	c.bytes += e.size()
	for c.bytes > c.max {
		c.remove(c.order.Back().Value.(lruEntry).key)
	}
}

// Delete drops key.
func (c *lru) Delete(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

func (c *lru) remove(key string) {
	if el, ok := c.byKey[key]; ok {
		c.bytes -= el.Value.(lruEntry).size()
		c.order.Remove(el)
		delete(c.byKey, key)
	}
}

// revalidate stands below the cache and has it ask GitHub each time: without this an answer would be given out for the minute
// that GitHub's max-age allows, to somebody who has lost the right meanwhile. Only a 200 is kept.
type revalidate struct{ next http.RoundTripper }

func (t revalidate) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusNotModified:
		resp.Header.Set("Cache-Control", "no-cache")
	default:
		resp.Header.Set("Cache-Control", "no-store")
	}
	return resp, nil
}
