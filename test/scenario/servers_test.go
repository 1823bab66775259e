package scenario

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/zonefold/zonefold/internal/nameserver"
)

// update sends a server a dynamic update that is not ours, in nsupdate's words
// ("add www.example.org. 60 A 192.0.2.1", "delete www.example.org. A").
func (s *scene) update(server *nameserver.Server, zone string, lines ...string) {
	s.t.Helper()
	host, port, _ := strings.Cut(server.Addr(), ":")
	script := fmt.Sprintf("server %s %s\nkey %s:%s %s\nzone %s\n", host, port, key.Algorithm, key.Name, key.Secret,
		s.text(zone))
	for _, line := range lines {
		script += "update " + s.text(line) + "\n"
	}
	cmd := exec.CommandContext(s.ctx, "nsupdate", "-t", "10")
	cmd.Stdin = strings.NewReader(script + "send\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("nsupdate: %v: %s", err, out)
	}
}

// bindWith starts a BIND with one zone that holds records already.
func (s *scene) bindWith(zone string, records ...string) *nameserver.Server {
	s.t.Helper()
	text := fmt.Sprintf(
		"%[1]s 300 IN SOA localhost. hostmaster.localhost. 7 3600 600 604800 300\n%[1]s 300 IN NS localhost.\n%[2]s\n",
		s.text(zone), s.text(strings.Join(records, "\n")))
	server, err := nameserver.StartBIND(s.ctx, nameserver.Options{
		Dir: s.t.TempDir(), Keys: []nameserver.TSIG{key}, Zones: []nameserver.Zone{{Name: name(s.text(zone)), Text: text}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(server.Close)
	return server
}

// serial asks a server for the serial of a zone.
func (s *scene) serial(server *nameserver.Server, zone string) uint32 {
	s.t.Helper()
	serial, err := server.Serial(s.ctx, name(s.text(zone)))
	if err != nil {
		s.t.Fatal(err)
	}
	return serial
}

// updates returns how many updates a server has received.
func (s *scene) updates(server *nameserver.Server) int {
	s.t.Helper()
	n, err := server.Updates(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func zoneNamed(zone string) nameserver.Zone { return nameserver.Zone{Name: name(zone)} }
