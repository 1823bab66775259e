package bind9

import (
	"context"
	"sync"

	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// A grant is an Access that tests change.
type grant struct {
	mu               sync.Mutex
	update, transfer named.Key
	token            string
	gone             error
	settings         Settings
}

// transferKey is the name of the key for transfers.
const transferKey = "bindy-transfer"

func newGrant() *grant {
	return &grant{update: testKey("bindy-operator"), transfer: testKey(transferKey), token: token}
}

func (g *grant) set(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}

func (g *grant) Keys() (update, transfer named.Key, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.update, g.transfer, nil
}

func (g *grant) Token() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.token, nil
}

func (g *grant) Holds(context.Context, Endpoint) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gone
}

func (g *grant) Settings(dnsname.Name) Settings {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.settings
}
