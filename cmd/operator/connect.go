package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/backends"
)

// pool makes clients, and equal ones once: two Backends with the same settings share
// connections and limits.
type pool struct {
	mu sync.Mutex
}

func newPool() *pool { return &pool{} }

func (p *pool) connect(s backends.Settings) ([]controller.Server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.RFC2136 == nil {
		return nil, fmt.Errorf("not yet")
	}
	var out []controller.Server
	for _, server := range s.RFC2136.Servers {
		c, err := rfc2136.New(rfc2136.Config{Server: server, Now: time.Now, Key: rfc2136.Key{
			Name: s.RFC2136.KeyName, Algorithm: s.RFC2136.Algorithm, Secret: s.RFC2136.Secret,
		}})
		if err != nil {
			return nil, err
		}
		out = append(out, controller.Server{Name: "rfc2136 " + c.Server(), View: s.RFC2136.View, Backend: c})
	}
	return out, nil
}
