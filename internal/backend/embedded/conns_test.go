package embedded

import (
	"net"
	"strings"
	"testing"
	"time"
)

func TestSlowAndWrongConnectionsAreClosed(t *testing.T) {
	const idle = 200 * time.Millisecond
	_, addr := serve(t, Options{IdleTimeout: idle})
	answerIgnored := func(t *testing.T, c net.Conn) {
		msg := framed(asked(t, nil))
		all := []byte(strings.Repeat(string(msg), 1000))
		for {
			if _, err := c.Write(all); err != nil { // nobody reads, so one day nothing is taken
				return
			}
		}
	}
	for name, do := range map[string]func(*testing.T, net.Conn){
		"says nothing":                     func(*testing.T, net.Conn) {},
		"never ends its message":           func(t *testing.T, c net.Conn) { c.Write(framed(asked(t, nil))[:20]) },
		"sends an octet at a time":         trickle,
		"asks and does not take answers":   answerIgnored,
		"announces a message that is huge": func(_ *testing.T, c net.Conn) { c.Write([]byte{0xff, 0xff, 1}) },
		"sends what is no question":        func(_ *testing.T, c net.Conn) { c.Write(framed([]byte("GET / HTTP/1.1"))[:16]) },
		"sends an empty message":           func(_ *testing.T, c net.Conn) { c.Write([]byte{0, 0}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, addr)
			do(t, c)
			if name == "sends what is no question" {
				receive(t, c) // it is one, of a kind that is not answered
			}
			if name != "asks and does not take answers" {
				closed(t, c)
			}
			ask(t, "tcp", addr)
		})
	}
}

// trickle sends so slowly that the time-out comes first.
func trickle(t *testing.T, c net.Conn) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, b := range framed(asked(t, nil)) {
		<-tick.C
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	_, addr := serve(t, Options{MaxConns: 4, MaxConnsPerClient: 3})
	from := func(ip string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Timeout: 10 * time.Second}
		c, err := d.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(20 * time.Second))
		return c
	}
	speak := func(c net.Conn) {
		c.Write(framed(asked(t, nil)))
		receive(t, c)
	}
	var mine []net.Conn
	for range 3 {
		mine = append(mine, from("127.0.0.1"))
		speak(mine[len(mine)-1])
	}
	closed(t, from("127.0.0.1")) // the fourth of one client
	other := from("127.0.0.2")
	speak(other)
	speak(mine[0]) // so that the second is quiet for longest
	another := from("127.0.0.3")
	speak(another)
	closed(t, mine[1])
	for _, c := range []net.Conn{mine[0], mine[2], other, another} {
		speak(c)
	}
}

// TestTenThousandConnections opens more than are kept and leaves all open.
func TestTenThousandConnections(t *testing.T) {
	_, addr := serve(t, Options{MaxConnsPerClient: 20_000, IdleTimeout: time.Minute})
	for i := range 10_000 {
		c, err := net.DialTimeout("tcp", addr, 10*time.Second)
		if err != nil {
			t.Fatalf("after %d connections: %v", i, err)
		}
		defer c.Close()
		if i%1000 == 999 {
			ask(t, "udp", addr)
			ask(t, "tcp", addr)
		}
	}
}
