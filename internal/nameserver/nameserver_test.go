package nameserver_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

// starters are the server programs behind one signature.
var starters = map[string]func(context.Context, nameserver.Options) (*nameserver.Server, error){
	"BIND": nameserver.StartBIND,
	"Knot": nameserver.StartKnot,
	"NSD":  nameserver.StartNSD,
	"PowerDNS": func(ctx context.Context, opts nameserver.Options) (*nameserver.Server, error) {
		p, err := nameserver.StartPowerDNS(ctx, opts)
		if err != nil {
			return nil, err
		}
		return p.Server, nil
	},
}

func name(t *testing.T, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func options(t *testing.T) nameserver.Options {
	t.Helper()
	return nameserver.Options{
		Dir: t.TempDir(),
		Zones: []nameserver.Zone{
			{Name: name(t, "example.org.")},
			{Name: name(t, "example.net."), Text: "example.net. 60 IN SOA ns.example.com. root.example.com. 7 1 1 1 1\n" +
				"example.net. 60 IN NS ns.example.com.\nwww.example.net. 60 IN A 192.0.2.1\n"},
		},
		Keys: []nameserver.TSIG{{Name: name(t, "test."), Algorithm: "hmac-sha256",
			Secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}},
	}
}

func TestServers(t *testing.T) {
	for program, start := range starters {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s, err := start(ctx, options(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			wantSerial(t, s, "example.org.", 1)
			wantSerial(t, s, "example.net.", 7)
			wantAnswers(t, s)

			addr := s.Addr()
			if err := s.AddZone(ctx, nameserver.Zone{Name: name(t, "0/25.2.0.192.in-addr.arpa.")}); err != nil {
				t.Fatal(err)
			}
			wantSerial(t, s, "0/25.2.0.192.in-addr.arpa.", 1)
			if err := s.Restart(ctx); err != nil {
				t.Fatal(err)
			}
			s.Kill()
			if _, err := s.Serial(ctx, name(t, "example.org.")); err == nil {
				t.Error("a killed server answers")
			}
			if err := s.Start(ctx); err != nil {
				t.Fatal(err)
			}
			if s.Addr() != addr {
				t.Errorf("the address was %s and is %s after a restart", addr, s.Addr())
			}
			wantSerial(t, s, "0/25.2.0.192.in-addr.arpa.", 1)
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			if err := s.Stop(); err != nil {
				t.Errorf("stopping a stopped server: %v", err)
			}
		})
	}
}

func wantSerial(t *testing.T, s *nameserver.Server, zone string, want uint32) {
	t.Helper()
	got, err := s.Serial(t.Context(), name(t, zone))
	if err != nil || got != want {
		t.Errorf("serial of %s is %d (%v), want %d", zone, got, err, want)
	}
}

func wantAnswers(t *testing.T, s *nameserver.Server) {
	t.Helper()
	www := rr.NewSet(rr.Key{Name: name(t, "www.example.net."), Type: rr.Type(dns.TypeA)}, 60, "192.0.2.1")
	answer, err := s.Lookup(t.Context(), www.Key())
	if err != nil {
		t.Fatal(err)
	}
	if answer.Rcode != "NOERROR" || len(answer.Sets) != 1 || !answer.Sets[0].Equal(www) {
		t.Errorf("the answer is %v, want %v", answer, www)
	}
	sets, err := s.Transfer(t.Context(), name(t, "example.net."))
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 3 || !sets[2].Equal(www) {
		t.Errorf("the transfer has %v, want SOA, NS and %v", sets, www)
	}
}

func TestUpdatesAreCounted(t *testing.T) {
	for _, program := range []string{"BIND", "Knot"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			opts := options(t)
			s, err := starters[program](t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			for i := range 3 {
				if got, err := s.Updates(t.Context()); err != nil || got != i {
					t.Errorf("after %d updates the server counts %d (%v)", i, got, err)
				}
				update(t, s, opts.Keys[0])
			}
			wantSerial(t, s, "example.org.", 4)
		})
	}
}

// update sends an UPDATE that changes something every time.
func update(t *testing.T, s *nameserver.Server, key nameserver.TSIG) {
	t.Helper()
	m := new(dns.Msg)
	m.SetUpdate("example.org.")
	m.Insert([]dns.RR{&dns.TXT{
		Hdr: dns.RR_Header{Name: "x.example.org.", Rrtype: dns.TypeTXT, Ttl: 60},
		Txt: []string{strconv.Itoa(int(time.Now().UnixNano()))},
	}})
	send(t, s, m, key)
}

func send(t *testing.T, s *nameserver.Server, m *dns.Msg, key nameserver.TSIG) {
	t.Helper()
	m.SetTsig(key.Name.String(), key.Algorithm+".", 300, time.Now().Unix())
	c := dns.Client{Net: "tcp", TsigSecret: map[string]string{key.Name.String(): key.Secret}}
	resp, _, err := c.ExchangeContext(t.Context(), m, s.Addr())
	if err != nil || resp.Rcode != dns.RcodeSuccess {
		t.Fatalf("update: %v %v", resp, err)
	}
}

func TestPowerDNSCountsRequestsThatWrite(t *testing.T) {
	t.Parallel()
	p, err := nameserver.StartPowerDNS(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	before, err := p.Updates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AddZone(t.Context(), nameserver.Zone{Name: name(t, "counted.example.")}); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(20 * time.Second)
	for {
		after, err := p.Updates(t.Context())
		if err != nil || after > before+1 {
			t.Fatalf("the server counts %d (%v) after one request more than %d", after, err, before)
		}
		if after == before+1 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the server still counts %d after one request more than %d", after, before)
		default:
		}
	}
}

func TestStartSaysWhatTheServerSaid(t *testing.T) {
	for program, start := range starters {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			opts := options(t)
			opts.Extra = "no-such-option yes;"
			s, err := start(t.Context(), opts)
			if err == nil {
				s.Close()
				t.Fatal("a server with a broken configuration starts")
			}
			if !strings.Contains(err.Error(), "no-such-option") {
				t.Errorf("the error does not quote the server: %v", err)
			}
		})
	}
}

// parentFolder tells a copy of this test binary that it is the parent in TestServersEndWithTheirParent.
const parentFolder = "ZONEFOLD_NAMESERVER_TEST_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentFolder); dir != "" {
		opts := nameserver.Options{Dir: dir}
		if _, err := nameserver.StartKnot(context.Background(), opts); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("started\n")
		select {}
	}
	os.Exit(m.Run())
}

func TestServersEndWithTheirParent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentFolder+"="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the parent said %q: %v", line, err)
	}
	b, err := os.ReadFile(dir + "/knot.pid")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the server does not run: %v", err)
	}
	parent.Process.Kill()
	parent.Wait()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(10 * time.Second); syscall.Kill(pid, 0) == nil && running(pid); {
		select {
		case <-end:
			t.Fatalf("process %d outlives its parent", pid)
		case <-tick.C:
		}
	}
}

// running reports whether the process is more than an unreaped remainder.
func running(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(b), ") Z ")
}
