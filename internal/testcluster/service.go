package testcluster

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// A ServiceAddress is where a Service answers. Only [Cluster.Service] gives one, and waits for an answer first: a pod
// is Ready before kube-proxy has heard of it.
type ServiceAddress struct{ ip netip.Addr }

// At is a port of the Service.
func (a ServiceAddress) At(port uint16) netip.AddrPort { return netip.AddrPortFrom(a.ip, port) }

// URL is a port of the Service that speaks HTTP.
func (a ServiceAddress) URL(port uint16) string { return "http://" + a.At(port).String() }

// String is the address without a port.
func (a ServiceAddress) String() string { return a.ip.String() }

// A servicePort is what is asked before a Service counts as reached.
type servicePort struct {
	Protocol string `json:"protocol"`
	Port     uint16 `json:"port"`
}

// Service waits until every port of a Service answers: TCP with a connection, UDP with a message of DNS.
func (c *Cluster) Service(ctx context.Context, namespace, name string) (ServiceAddress, error) {
	var service struct {
		Spec struct {
			ClusterIP string        `json:"clusterIP"`
			Ports     []servicePort `json:"ports"`
		} `json:"spec"`
	}
	url := fmt.Sprintf("%s/api/v1/namespaces/%s/services/%s", c.server, namespace, name)
	if err := c.ask(ctx, http.MethodGet, url, nil, &service); err != nil {
		return ServiceAddress{}, fmt.Errorf("reading the Service %s/%s: %w", namespace, name, err)
	}
	at, err := netip.ParseAddr(service.Spec.ClusterIP)
	if err != nil {
		return ServiceAddress{}, fmt.Errorf("the Service %s/%s has no address of its own: %w", namespace, name, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, errTooLong)
	defer cancel()
	for _, p := range service.Spec.Ports {
		var last error
		if err := until(ctx, func() bool { last = p.answers(ctx, at); return last == nil }); err != nil {
			return ServiceAddress{}, fmt.Errorf("the Service %s/%s does not answer: %w: %w", namespace, name, err, last)
		}
	}
	return ServiceAddress{at}, nil
}

// dnsQuestion asks for the SOA of the root (RFC 1035, section 4.1). Whatever a server says to it is an answer.
const dnsQuestion = "\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00" + "\x00\x00\x06\x00\x01"

// answerWithin is how long one try waits: packets to a Service that kube-proxy does not know yet may get lost.
const answerWithin = time.Second

func (p servicePort) answers(ctx context.Context, at netip.Addr) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	network := map[string]string{"TCP": "tcp", "UDP": "udp"}[p.Protocol]
	conn, err := new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(at.String(), strconv.Itoa(int(p.Port))))
	if err != nil {
		return err
	}
	defer conn.Close()
	if network == "tcp" {
		return nil
	}
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := conn.Write([]byte(dnsQuestion)); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 512)) // octets, the most that UDP carries without EDNS
	return err
}
