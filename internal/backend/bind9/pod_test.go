package bind9

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

const token = "the-token-of-the-tests"

// A testPod is a named with the configuration that pods get, and the sidecar.
type testPod struct {
	testing.TB
	named        *nameserver.Named
	conf         string
	dns, control uint16
	http         uint16
	end          context.CancelFunc
	done         chan struct{}
	bindcar      bindcar.Settings
}

func testKey(name string) named.Key {
	return named.Key{Name: name, Algorithm: named.SHA256, Secret: base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
		"%-32s", name))}
}

// startPod starts one with the keys "bindy-operator" and "bindy-transfer". strict makes BIND refuse what is no host
// name.
func startPod(t testing.TB, role named.ZoneType, strict bool) *testPod {
	t.Helper()
	return startPodWith(t, named.Options{Role: role}, strict)
}

func startPodWith(t testing.TB, o named.Options, strict bool) *testPod {
	t.Helper()
	root, err := os.MkdirTemp("", "zonefold-pod-") //nolint:usetesting // configuration takes plain names of folders, and those of tests are none
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	data := filepath.Join(root, "data")
	p := &testPod{TB: t, conf: filepath.Join(root, "conf")}
	for _, port := range []*uint16{&p.dns, &p.control, &p.http} {
		number, release, err := nameserver.ClaimPort()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		*port = number
	}
	o.ConfigDir, o.DataDir, o.DNSPort, o.ControlPort = p.conf, data, p.dns, p.control
	o.ListenOn, o.ListenOnV6 = []string{"127.0.0.1"}, []string{"none"}
	files, err := named.Configuration(o)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if strict {
			text = strings.Replace(text, "check-names primary ignore", "check-names primary fail", 1)
		}
		p.write(name, text)
	}
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	p.publish(named.ForOperator, testKey("bindy-operator"))
	p.publish(named.ForTransfer, testKey(transferKey))
	p.bindcar = bindcar.Settings{
		ZoneDir: data, RNDC: fmt.Sprintf("127.0.0.1:%d", p.control), DNS: p.address().String(), UpdateACL: named.UpdateList,
		Keys: bindcar.Keys{File: filepath.Join(p.conf, named.FileKeys)}, Token: token, Limit: bindcar.DefaultLimit(),
		RequireContent: true,
	}
	p.bindcar.Pod = p.place().ID
	p.start()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of the server at %s:\n%s", p.address(), p.named.Log())
		}
		p.named.Kill()
		p.stopSidecar()
	})
	return p
}

func (p *testPod) address() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.dns)
}

// publish writes the files of a Secret. The first key is the one in use.
func (p *testPod) publish(purpose named.Purpose, keys ...named.Key) {
	p.Helper()
	data, err := named.Ring{Keys: keys, InUse: keys[0].Name}.Data(purpose, p.control)
	if err != nil {
		p.Fatal(err)
	}
	for name, text := range data {
		p.write(filepath.Join("keys", name), string(text))
	}
}

func (p *testPod) write(name, text string) {
	p.Helper()
	path := filepath.Join(p.conf, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		p.Fatal(err)
	}
}

func (p *testPod) start() {
	p.Helper()
	control := named.Client{Address: p.bindcar.RNDC, Keys: func() ([]named.Key, error) { return p.onDisk() },
		Now: time.Now}
	status, err := named.ServerCommand("status")
	if err != nil {
		p.Fatal(err)
	}
	p.named, err = nameserver.StartNamed(context.Background(), p.conf, filepath.Join(p.conf, named.FileMain), nil,
		func(ctx context.Context) error {
			_, err := control.Do(ctx, status)
			return err
		})
	if err != nil {
		p.Fatal(err)
	}
	p.startSidecar()
}

func (p *testPod) onDisk() ([]named.Key, error) {
	text, err := os.ReadFile(p.bindcar.Keys.File)
	if err != nil {
		return nil, err
	}
	return named.ParseKeys(string(text))
}

func (p *testPod) startSidecar() {
	p.Helper()
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", p.http))
	if err != nil {
		p.Fatal(err)
	}
	server, err := bindcar.New(bindcar.Options{Settings: p.bindcar, Version: "test", Log: slog.New(slog.DiscardHandler),
		Now: time.Now})
	if err != nil {
		p.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	p.end, p.done = end, done
	go func() {
		defer close(done)
		if err := server.Serve(ctx, listener); err != nil {
			p.Error(err)
		}
	}()
}

func (p *testPod) stopSidecar() {
	p.end()
	<-p.done
}

// stop ends both, named in order.
func (p *testPod) stop() {
	p.Helper()
	p.stopSidecar()
	if err := p.named.Stop(); err != nil {
		p.Error(err)
	}
}

func (p *testPod) place() Endpoint {
	return Endpoint{ID: "pod-" + p.address().String(), DNS: p.address().String(),
		Sidecar: fmt.Sprintf("http://127.0.0.1:%d", p.http)}
}

// server is the pod, to be asked as a secondary asks.
func (p *testPod) server(keys ...string) *nameserver.Server {
	var all []nameserver.TSIG
	for _, name := range keys {
		k := testKey(name)
		all = append(all, nameserver.TSIG{Name: parse(p, name+"."), Algorithm: string(k.Algorithm), Secret: k.Secret})
	}
	return nameserver.At(p.dns, all...)
}

func (p *testPod) client(access Access) *Client {
	p.Helper()
	c, err := New(Config{Endpoint: p.place(), Access: access, Now: time.Now})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { c.Close() })
	return c
}

func parse(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// truth reads a zone with the library's own transfer.
func (p *testPod) truth(zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
	p.Helper()
	sets, err := p.server(transferKey).Transfer(context.Background(), zone)
	if err != nil {
		p.Logf("reading the truth: %v", err)
		return rr.SOA{}, rr.Sets{}, false
	}
	var soa rr.SOA
	txn := rr.Sets{}.Txn()
	for _, set := range sets {
		if set.Type != rr.TypeSOA {
			txn.Put(set)
			continue
		}
		if soa, err = rr.ParseSOA(set.Data[0]); err != nil {
			p.Fatal(err)
		}
		soa.TTL = set.TTL
	}
	return soa, txn.Sets(), true
}

// foreign writes as somebody who does not care for serials: the server counts.
func (p *testPod) foreign(zone dnsname.Name, put []rr.Set, gone []rr.Key) {
	p.Helper()
	m := new(dns.Msg)
	m.SetUpdate(zone.String())
	for _, set := range put {
		gone = append(gone, set.Key())
	}
	for _, key := range gone {
		m.RemoveRRset([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: key.Name.String(), Rrtype: uint16(key.Type)}}})
	}
	for _, set := range put {
		records, err := set.RRs()
		if err != nil {
			p.Fatal(err)
		}
		m.Insert(records)
	}
	k := testKey("bindy-operator")
	m.SetTsig(k.Name+".", dns.HmacSHA256, 300, time.Now().Unix())
	c := dns.Client{Net: "tcp", TsigSecret: map[string]string{k.Name + ".": k.Secret}}
	answer, _, err := c.Exchange(m, p.address().String())
	if err != nil || answer.Rcode != dns.RcodeSuccess {
		p.Fatalf("writing as somebody else: %v %v", answer, err)
	}
}
