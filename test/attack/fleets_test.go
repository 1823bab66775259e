package attack

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// soa is the rest of a DNSZone's spec that has to be there.
func soa(zone string) string {
	return fmt.Sprintf("zoneName: %[1]s, soaRecord: {primaryNs: ns1.%[1]s., adminEmail: admin.%[1]s., serial: 1, "+
		"refresh: 3600, retry: 600, expire: 604800, negativeTtl: 300}", zone)
}

// hosts are the instances that a DNSZone's status names, as namespace/name.
func (s *site) hosts(namespace, name string) (all []string) {
	s.Helper()
	o := objects("{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone}")[0]
	s.must(s.admin.Get(s.ctx, client.ObjectKey{Namespace: namespace, Name: name}, o))
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "bind9Instances")
	for _, i := range list {
		if i, ok := i.(map[string]any); ok {
			all = append(all, fmt.Sprint(i["namespace"], "/", i["name"]))
		}
	}
	return all
}

func onFleets() []attempt {
	return []attempt{{
		aTenant, "labels its Bind9Instance so that another tenant's DNSZone selects it, and allows all zones",
		"the DNSZone has to name the namespace",
		func(s *site) {
			s.must(s.malloryPuts(`
{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {name: lure, labels: {zones: victims}, annotations: {bindy.firestoned.io/allow-zone-namespaces: "*"}}, spec: {role: Primary}}
---
{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {name: probe}, spec: {` + soa("mallory.example") + `, bind9InstancesFrom: [{selector: {matchLabels: {zones: victims}}}]}}`))
			s.eventually("the operator has seen the instance", func() string {
				if hosts := strings.Join(s.hosts(mallory, "probe"), " "); !strings.Contains(hosts, "mallory/lure") {
					return fmt.Sprintf("mallory's zone is on %q", hosts)
				}
				return ""
			})
			if hosts := strings.Join(s.hosts(victim, "zone"), " "); strings.Contains(hosts, mallory) ||
				!strings.Contains(hosts, victim) {
				s.Errorf("the victim's zone is on %q", hosts)
			}
		},
	}, {
		aTenant, "selects another tenant's Bind9Instances with its DNSZone",
		"the instance has to allow the namespace: `NoInstances`",
		func(s *site) {
			s.told("NoInstances", `{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {name: grab}, spec: {`+soa(
				"mallory.example")+
				`, bind9InstancesFrom: [{selector: {matchExpressions: [{key: none, operator: DoesNotExist}]}}]}}`)
		},
	}, {
		aTenant, "has its DNSZone served by another tenant's cluster",
		"a cluster has to be in the same namespace: `NoInstances`",
		func(s *site) {
			s.told("NoInstances", `{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {name: grab}, spec: {`+soa(
				"mallory.example")+`, clusterRef: fleet}}`)
		},
	}, {
		aTenant, "writes a record for another tenant's DNSZone",
		"record and zone must be in one namespace: `ZoneNotFound`",
		func(s *site) {
			s.told("ZoneNotFound",
				`{apiVersion: bindy.firestoned.io/v1beta1, kind: ARecord, metadata: {name: pay}, spec: {zone: victim.example, name: pay, ipv4: 192.0.2.66}}`)
		},
	}, {
		aTenant, "mounts the node's files into a server", "only four kinds of volumes are allowed: refused by admission",
		func(s *site) {
			s.denied(
				s.malloryPuts(
					`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {name: root}, spec: {role: Primary, volumes: [{name: root, hostPath: {path: /}}], volumeMounts: [{name: root, mountPath: /data/root}]}}`), "volumes[0]", "emptyDir")
		},
	}, {
		aTenant, "mounts a Secret of the namespace that is not meant for servers",
		"its name has to begin with `bindy-`: refused by admission",
		func(s *site) {
			s.denied(
				s.malloryPuts(
					`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {name: read}, spec: {role: Primary, volumes: [{name: key, secret: {secretName: admin-token}}], volumeMounts: [{name: key, mountPath: /data/key}]}}`), "bindy-")
		},
	}, {
		aTenant, "runs an image of its own in the servers' pods", "the policy `zonefold-images` of the chart",
		func(s *site) {
			s.denied(
				s.malloryPuts(
					`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {name: image}, spec: {role: Primary, image: {image: "registry.mallory.example/bind9:1"}}}`), "zonefold-images")
		},
	}, {
		aTenant, "has a Service attract traffic meant for others", "externalIPs are refused by admission",
		func(s *site) {
			s.denied(
				s.malloryPuts(
					`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {name: thief}, spec: {role: Primary, bindcarConfig: {serviceSpec: {externalIPs: [192.0.2.1]}}}}`), "externalIPs")
		},
	}, {
		aTenant, "nests access lists so that they expand to millions of entries",
		"at most 1,024 entries: refused by admission",
		func(s *site) {
			s.denied(s.malloryPuts(nested()), "1024")
		},
	}, {
		aTenant, "writes BIND's configuration through a name", "names are written quoted, and checked: refused",
		func(s *site) {
			s.denied(s.malloryPuts(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {name: inject}, spec: {` +
				strings.Replace(soa("mallory.example"), "zoneName: mallory.example", `zoneName: "x\"; }; include \"/etc/passwd"`,
					1) + `, clusterRef: own}}`))
		},
	}}
}

// nested is a cluster whose lists name each other, four deep.
func nested() string {
	lists := []string{}
	for depth := range 4 {
		entries := []string{}
		for range 64 {
			if depth == 3 {
				entries = append(entries, "192.0.2.1")
			} else {
				entries = append(entries, fmt.Sprintf("l%d", depth+1))
			}
		}
		lists = append(lists, fmt.Sprintf("l%d: [%s]", depth, strings.Join(entries, ", ")))
	}
	return `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {name: nest}, spec: {acls: {` +
		strings.Join(lists, ", ") + `}, global: {allowQuery: [l0]}}}`
}
