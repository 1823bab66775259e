// Command coredns is CoreDNS's own server with nothing but the plugins that answer from a master file, for
// ./hack/bench/dns to compare the embedded name server with.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/file"
	_ "github.com/coredns/coredns/plugin/multisocket"
)

func main() {
	// of those that are compiled in; what is not listed is unknown
	dnsserver.Directives = []string{"bind", "multisocket", "file"}
	coremain.Run()
}
