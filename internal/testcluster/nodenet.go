package testcluster

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
)

// Nodes live in 198.18.0.0/15, which is set aside for tests between devices (RFC 2544, appendix C.2.2) and so is no
// one's network. Each takes a block of 1024 addresses.
const (
	linkPrefix = "zonefold" // of the host's interface to a node; its number makes the block taken
	blocks     = 128
	blockSize  = 1024
)

// A nodeNet says which addresses a node has: a link of two, then 256 for pods and 256 for Services.
type nodeNet struct{ index int }

func (n nodeNet) address(offset int) netip.Addr {
	at := n.index*blockSize + offset
	return netip.AddrFrom4([4]byte{198, byte(18 + at>>16), byte(at >> 8), byte(at)})
}

func (n nodeNet) link() string           { return linkPrefix + strconv.Itoa(n.index) }
func (n nodeNet) host() netip.Addr       { return n.address(1) }
func (n nodeNet) node() netip.Addr       { return n.address(2) }
func (n nodeNet) block() netip.Prefix    { return netip.PrefixFrom(n.address(0), 22) }
func (n nodeNet) pods() netip.Prefix     { return netip.PrefixFrom(n.address(256), 24) }
func (n nodeNet) services() netip.Prefix { return netip.PrefixFrom(n.address(512), 24) }
func (n nodeNet) api() netip.Addr        { return n.address(513) } // the first Service is the API server

// connect takes a free block and joins the node's network to the host's. Making the interface is what takes the block:
// only one can have its name.
func (n *Node) connect(ctx context.Context) error {
	for index := range blocks {
		free := nodeNet{index: index}
		routes, err := ip(ctx, "-4", "route", "show", "root", free.block().String())
		if err != nil {
			return err
		}
		if _, err := net.InterfaceByName(free.link()); err == nil || strings.TrimSpace(routes) != "" {
			continue
		}
		_, err = ip(ctx, "link", "add", free.link(), "type", "veth", "peer", "name", "eth0", "netns",
			strconv.Itoa(n.init.Pid))
		if err != nil {
			return err
		}
		n.net = free
		return n.setAddresses(ctx)
	}
	return fmt.Errorf(
		"no block of addresses in 198.18.0.0/15 is free; the interfaces %s* and the routes of this machine take all",
		linkPrefix)
}

func (n *Node) setAddresses(ctx context.Context) error {
	host, node := n.net.host().String(), n.net.node().String()
	for _, args := range [][]string{
		{"address", "add", host + "/30", "dev", n.net.link()},
		{"link", "set", n.net.link(), "up"},
		{"route", "add", n.net.pods().String(), "via", node, "dev", n.net.link()},
		{"route", "add", n.net.services().String(), "via", node, "dev", n.net.link()},
	} {
		if _, err := ip(ctx, args...); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"address", "add", node + "/30", "dev", "eth0"},
		{"link", "set", "eth0", "up"},
		{"route", "add", "default", "via", host},
	} {
		if _, err := output(n.Command(ctx, "ip", args...)); err != nil {
			return err
		}
	}
	return nil
}

func ip(ctx context.Context, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, "ip", args...))
}
