package homelab_test

import (
	"testing"
)

func TestARecordIsDelivered(t *testing.T) {
	h := newHook(t, "my-shared-secret-key")
	w := newWorld(t)
	w.secret("hmac", "hmac-secret", "my-shared-secret-key")
	w.class("dns", h.URL, "hmacAuth:", "  secretRef: {name: hmac, namespace: ~, key: hmac-secret}")
	w.record("web", "dns", "A www example.com 192.168.1.100 192.168.1.101", "ttl: 600")
	w.until("web", "Created True RecordCreated")
	w.holds(h, "A www.example.com 600 192.168.1.100,192.168.1.101")
	w.record("web", "dns", "A www example.com 192.168.1.100", "ttl: 600")
	w.until("web", "Updated True RecordUpdated")
	w.holds(h, "A www.example.com 600 192.168.1.100")
	w.delete("web")
	w.until("web", "gone")
	w.holds(h)
}
