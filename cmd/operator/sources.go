package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/zonefold/zonefold/internal/controller/kubizone"
	"github.com/zonefold/zonefold/internal/controller/sources"
	meaning "github.com/zonefold/zonefold/internal/dialect/sources"
)

// sourceOptions are the flags about Services, Ingresses and others that ask for names. They have the names and meanings
// of external-dns' flags, where that has one.
type sourceOptions struct {
	names      nameList
	options    meaning.Options
	classes    nameList
	types      nameList
	cordoned   bool // nodes that are cordoned do not count
	deleteLost bool
}

func sourceFlags(f *flag.FlagSet, o *sourceOptions) {
	o.cordoned = true
	d := &o.options
	f.Var(&o.names, "source", "`sources` of names that are on beside Records, separated by commas: "+
		strings.Join(sources.Names(), ", ")+" (default none)")
	f.Func("on-lost-address", "`what` becomes of records when the object that asks for them has no address any more: "+
		"keep or delete (default keep)", func(text string) error {
		if o.deleteLost = text == "delete"; text != "keep" && text != "delete" {
			return errors.New("it is keep or delete")
		}
		return nil
	})
	f.StringVar(&d.Namespace, "source-namespace", "", "`namespace` of the objects that count (default all)")
	f.StringVar(&d.NodeNamespace, "node-namespace", "kube-system",
		"`namespace` to which Zones have to delegate the names of Nodes")
	f.Func("label-filter", "`selector` of the labels of objects that count", selector(&d.Labels))
	f.Func("annotation-filter", "`selector` of the annotations of objects that count", selector(&d.Annotations))
	f.Func("fqdn-template", "`template` (Go) of names, separated by commas, of objects that say none",
		func(text string) (err error) {
			d.Template, err = meaning.ParseTemplate(text)
			return err
		})
	f.BoolVar(&d.Combine, "combine-fqdn-annotation", false, "names of the template count beside those of the object")
	f.BoolVar(&d.IgnoreHostnames, "ignore-hostname-annotation", false, "annotations say no names")
	f.BoolVar(&d.IgnoreTLS, "ignore-ingress-tls-spec", false, "spec.tls of Ingresses says no names")
	f.BoolVar(&d.IgnoreRules, "ignore-ingress-rules-spec", false, "spec.rules of Ingresses says no names")
	f.Var(&o.classes, "ingress-class", "`classes` of the Ingresses that count, separated by commas (default all)")
	f.Var(&o.types, "service-type-filter", "`types` of the Services that count, separated by commas (default all)")
	f.BoolVar(&d.PublishInternal, "publish-internal-services", false,
		"Services that have only a cluster IP are published under it")
	f.BoolVar(&d.PublishHostIP, "publish-host-ip", false, "headless Services are published under addresses of nodes")
	f.BoolVar(&d.PublishNotReady, "always-publish-not-ready-addresses", false,
		"headless Services are published with Pods that are not ready")
	f.BoolVar(&d.InternalIPv6, "expose-internal-ipv6", false, "internal IPv6 addresses of nodes count as external ones")
	f.BoolVar(&o.cordoned, "exclude-unschedulable", true, "nodes that are cordoned do not count")
	f.StringVar(&d.GatewayName, "gateway-name", "", "`name` of the Gateways that count (default all)")
	f.StringVar(&d.GatewayNamespace, "gateway-namespace", "", "`namespace` of the Gateways that count (default all)")
	f.Func("gateway-label-filter", "`selector` of the labels of Gateways that count", selector(&d.GatewayLabels))
	f.Func("target-net-filter", "`networks` of the addresses that count, separated by commas; targets that are names do "+
		"not count then (default all)", networks(&d.Networks))
	f.Func("exclude-target-net", "`networks` of addresses that do not count, separated by commas (default none)",
		networks(&d.NotNetworks))
}

// check completes the options.
func (o *sourceOptions) check() error {
	for _, name := range o.names {
		if !slices.Contains(sources.Names(), name) {
			return fmt.Errorf("--source: there is no source %s; there are %s", name, strings.Join(sources.Names(), ", "))
		}
	}
	o.options.IngressClasses, o.options.Unschedulable = o.classes, !o.cordoned
	known := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer,
		corev1.ServiceTypeExternalName}
	for _, text := range o.types {
		if !slices.Contains(known, corev1.ServiceType(text)) {
			return fmt.Errorf("--service-type-filter: there is no type %s; there are %v", text, known)
		}
		o.options.ServiceTypes = append(o.options.ServiceTypes, corev1.ServiceType(text))
	}
	return nil
}

// selector returns what reads a selector, as kubectl does.
func selector(into *labels.Selector) func(string) error {
	return func(text string) error {
		parsed, err := metav1.ParseToLabelSelector(text)
		if err != nil {
			return err
		}
		*into, err = metav1.LabelSelectorAsSelector(parsed)
		return err
	}
}

// networks returns what reads networks, separated by commas or in several flags.
func networks(into *[]netip.Prefix) func(string) error {
	return func(text string) error {
		for word := range strings.SplitSeq(text, ",") {
			network, err := netip.ParsePrefix(strings.TrimSpace(word))
			if err != nil {
				return err
			}
			*into = append(*into, network)
		}
		return nil
	}
}

// A nameList is a list, separated by commas or in several flags.
type nameList []string

// String implements flag.Value.
func (w *nameList) String() string { return strings.Join(*w, ",") }

// Set implements flag.Value.
func (w *nameList) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*w = append(*w, word)
		}
	}
	return nil
}

// asked is how sources are read: from a cache of their own, for which nobody else waits. It fills before the operator
// leads, as far as it can.
func (p *parts) asked() (sources.Config, error) {
	objects, c, err := p.cached(cache.Options{
		DefaultTransform: kubizone.Compact(), DefaultWatchErrorHandler: p.blind.handle})
	if err != nil {
		return sources.Config{}, err
	}
	catchUp, err := p.catchUp(objects, c)
	if err != nil {
		return sources.Config{}, err
	}
	out := sources.Config{
		Cache: objects, CatchUp: catchUp,
		Events: p.GetEventRecorder("zonefold"), Log: p.log, Sources: p.sources.names, Options: p.sources.options,
		DeleteLost: p.sources.deleteLost, Unread: p.blind.tell,
	}
	return out, p.Add(everywhere{func(ctx context.Context) error {
		sources.Warm(ctx, out)
		return nil
	}})
}
