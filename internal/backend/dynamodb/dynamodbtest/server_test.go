package dynamodbtest

import (
	"net"
	"strings"
	"testing"
	"time"
)

// TestNobodyIsThereOnceItIsStopped stops servers that have hardly begun to serve.
func TestNobodyIsThereOnceItIsStopped(t *testing.T) {
	for range 200 {
		s, err := Start(t.Context(), "external-dns", time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		var d net.Dialer
		if c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://")); err == nil {
			_ = c.Close()
			t.Fatal("somebody answers")
		}
	}
}
