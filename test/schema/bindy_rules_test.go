package schema

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestBindyRulesOfProviders(t *testing.T) {
	check(t, "ClusterBind9Provider", "", []rule{
		{"nothing at all", `spec: {}`, ""},
		{"no spec", `{}`, ""},
		{"both forms of namespaces, which say the same", `spec: {namespaces: [a], namespace: a}`, ""},
		{"an empty list beside the other form", `spec: {namespaces: [], namespace: a}`, ""},
		{"an empty string beside the other form", `spec: {namespaces: [a, b], namespace: ""}`, ""},
		{"nulls",
			`spec: {namespaces: null, namespace: null, primary: null, primaryReplicas: null, global: null, acls: null, volumes: null}`, ""},

		{"forms of namespaces that differ", `spec: {namespaces: [a, b], namespace: a}`,
			"namespace and namespaces are two forms of one field and differ; remove one of them"},
		{"a namespace with a dot", `spec: {namespaces: [a.b]}`, "spec.namespaces[0]"},
		{"the other form of it in upper case", `spec: {namespace: A}`, "spec.namespace"},
		{"a namespace that is longer than any", `spec: {namespaces: [` + strings.Repeat("a", 64) + `]}`,
			"spec.namespaces[0]"},
		{"a field that does not exist", `spec: {replicas: 1}`, `unknown field "spec.replicas"`},
	})
}

func TestBindyRulesOfClusters(t *testing.T) {
	check(t, "Bind9Cluster", "default", []rule{
		{"scaled to zero", `spec: {primaryReplicas: 0, secondaryReplicas: 0}`, ""},
		{"the most servers", `spec: {primaryReplicas: 100, secondary: {replicas: 100}}`, ""},
		{"both forms of replicas, which say the same",
			`spec: {primaryReplicas: 2, primary: {replicas: 2}, secondaryReplicas: 0, secondary: {replicas: 0}}`, ""},
		{"both forms, one of them null",
			`spec: {primaryReplicas: null, primary: {replicas: 2}, secondaryReplicas: 1, secondary: {replicas: null}}`, ""},
		{"both forms of a key's Secret, which say the same",
			`spec: {primary: {rndcSecretRef: {name: a}, rndcKey: {secretRef: {name: a, algorithm: hmac-sha256}}}}`, ""},
		{"lists of addresses",
			`spec: {acls: {inside: [10.0.0.0/8, "!10.1.2.3"]}, global: {allowQuery: [inside, "!outside", localnets, "key a.b", "!2001:db8::/32"]}}`, ""},
		{"a fragment with anything in it",
			`spec: {volumes: [{name: a, future: {field: [1]}}], primary: {service: {spec: {anything: true}}}}`, ""},
		{"times of all units", `spec: {primary: {rndcKey: {rotateAfter: 8760h}}, secondary: {rndcKey: {rotateAfter: 365d}}}`,
			""},
		{"a size", `spec: {global: {bindcarConfig: {port: 9090, logLevel: trace}}}`, ""},

		{"forms of primary replicas that differ", `spec: {primaryReplicas: 1, primary: {replicas: 2}}`,
			"primaryReplicas and primary.replicas are two forms of one field and differ; remove one of them"},
		{"forms of secondary replicas that differ", `spec: {secondaryReplicas: 0, secondary: {replicas: 2}}`,
			"secondaryReplicas and secondary.replicas are two forms of one field and differ"},
		{"forms of a key's Secret that differ by name",
			`spec: {primary: {rndcSecretRef: {name: a}, rndcKey: {secretRef: {name: b}}}}`,
			"rndcSecretRef and rndcKey.secretRef are two forms of one field and differ"},
		{"forms of a key's Secret that differ by entry",
			`spec: {secondary: {rndcSecretRef: {name: a}, rndcKey: {secretRef: {name: a, secretKey: b}}}}`,
			"rndcSecretRef and rndcKey.secretRef"},
		{"more servers than the most", `spec: {primaryReplicas: 101}`,
			"spec.primaryReplicas in body should be less than or equal to 100"},
		{"fewer servers than none", `spec: {secondary: {replicas: -1}}`,
			"spec.secondary.replicas in body should be greater than or equal to 0"},
		{"a version that is no tag", `spec: {version: "9.18; rm"}`, "spec.version"},
		{"an image with a space", `spec: {image: {image: "a b"}}`, "spec.image.image"},
		{"a pull policy that does not exist", `spec: {image: {imagePullPolicy: always}}`, "spec.image.imagePullPolicy"},
		{"a ConfigMap with a path", `spec: {configMapRefs: {namedConf: ../a}}`, "spec.configMapRefs.namedConf"},
		{"an entry that ends its list", `spec: {global: {allowQuery: ["any; }; zone"]}}`,
			"an entry is any, none, localhost, localnets, an address, a network"},
		{"an entry that is no address", `spec: {global: {allowTransfer: [999.1.1.1]}}`, "an entry is any, none"},
		{"an entry with a line break", `spec: {primary: {allowTransfer: ["any\n"]}}`, "an entry is any, none"},
		{"an entry that is too long", `spec: {primary: {allowTransfer: ["` + strings.Repeat("a", 257) + `"]}}`, "Too long"},
		{"an entry of a named list", `spec: {acls: {a: ["}"]}}`, "an entry is any, none"},
		{"a list that is called any", `spec: {acls: {any: [localhost]}}`, "the names of lists begin with a letter"},
		{"a list with quotes in its name", `spec: {acls: {'a"': [localhost]}}`, "the names of lists begin with a letter"},
		{"a forwarder with a port", `spec: {global: {forwarders: ["192.0.2.1:53"]}}`,
			"these are IP addresses, without a port"},
		{"a forwarder with a name", `spec: {global: {forwarders: [dns.example]}}`, "these are IP addresses"},
		{"a policy with quotes", `spec: {global: {dnssec: {signing: {policy: 'a"; x'}}}}`,
			"spec.global.dnssec.signing.policy"},
		{"an algorithm of DNSSEC with a space", `spec: {global: {dnssec: {signing: {algorithm: "a b"}}}}`,
			"spec.global.dnssec.signing.algorithm"},
		{"a lifetime with braces", `spec: {global: {dnssec: {signing: {kskLifetime: "1d; }"}}}}`,
			"spec.global.dnssec.signing.kskLifetime"},
		{"a salt that is not hexadecimal", `spec: {global: {dnssec: {signing: {nsec3Salt: xyz}}}}`,
			"spec.global.dnssec.signing.nsec3Salt"},
		{"more iterations than BIND takes", `spec: {global: {dnssec: {signing: {nsec3Iterations: 151}}}}`,
			"spec.global.dnssec.signing.nsec3Iterations"},
		{"an algorithm of keys that is broken", `spec: {primary: {rndcKey: {algorithm: hmac-md5}}}`,
			"spec.primary.rndcKey.algorithm"},
		{"a rotation after less than an hour", `spec: {primary: {rndcKey: {rotateAfter: 30m}}}`,
			"rotateAfter is a time of 1h to 8760h in hours, days or weeks, such as 720h, 30d or 4w"},
		{"a rotation after more than a year", `spec: {primary: {rndcKey: {rotateAfter: 366d}}}`,
			"rotateAfter is a time of 1h to 8760h"},
		{"a rotation without a unit", `spec: {primary: {rndcKey: {rotateAfter: "720"}}}`,
			"rotateAfter is a time of 1h to 8760h"},
		{"a Secret without a name", `spec: {rndcSecretRefs: [{algorithm: hmac-sha256}]}`,
			"spec.rndcSecretRefs[0].name: Required value"},
		{"a port of BIND for bindcar", `spec: {global: {bindcarConfig: {port: 5353}}}`,
			"BIND itself listens on the ports 5353 and 9530; choose another one for bindcar"},
		{"a port beyond the last", `spec: {global: {bindcarConfig: {port: 65536}}}`, "spec.global.bindcarConfig.port"},
		{"a log level that does not exist", `spec: {global: {bindcarConfig: {logLevel: loud}}}`,
			"spec.global.bindcarConfig.logLevel"},
		{"a volume that is a string", `spec: {volumes: [a]}`, "spec.volumes[0]"},
		{"an unknown field", `spec: {primary: {rndcKeys: {}}}`, `unknown field "spec.primary.rndcKeys"`},
	})
}

func TestBindyRulesOfNames(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	for _, tt := range []struct {
		kind, name string
		ok         bool
	}{
		{"Bind9Cluster", strings.Repeat("a", 50), true},
		{"Bind9Cluster", strings.Repeat("a", 51), false},
		{"Bind9Cluster", "0a", false},
		{"Bind9Cluster", "a.b", false},
		{"ClusterBind9Provider", strings.Repeat("a", 50), true},
		{"ClusterBind9Provider", strings.Repeat("a", 51), false},
		{"Bind9Instance", strings.Repeat("a", 63), true},
		{"Bind9Instance", strings.Repeat("a", 64), false},
		{"Bind9Instance", "0a", false},
	} {
		namespace := "default"
		if tt.kind == "ClusterBind9Provider" {
			namespace = ""
		}
		_, err := a.create(namespace, object(t, tt.kind, tt.name, `spec: {role: primary}`), metav1.DryRunAll)
		if tt.kind != "Bind9Instance" {
			_, err = a.create(namespace, object(t, tt.kind, tt.name, `spec: {}`), metav1.DryRunAll)
		}
		if refused := err != nil && strings.Contains(err.Error(), "letter"); refused == tt.ok {
			t.Errorf("a %s of the name %s: %v", tt.kind, tt.name, err)
		}
	}
}

func TestBindyRulesOfInstances(t *testing.T) {
	check(t, "Bind9Instance", "default", []rule{
		{"a role alone", `spec: {role: Secondary}`, ""},
		{"the existing spelling", `spec: {role: secondary, clusterRef: ""}`, ""},
		{"no pods", `spec: {role: Primary, replicas: 0, storage: {storageType: persistentVolumeClaim}}`, ""},
		{"several pods without a volume of their own",
			`spec: {role: Primary, replicas: 3, storage: {emptyDir: {medium: Memory}}}`, ""},
		{"nulls",
			`spec: {role: Primary, replicas: null, version: null, image: null, config: null, primaryServers: null, rndcKey: null, storage: null, bindcarConfig: null}`, ""},

		{"no role", `spec: {clusterRef: a}`, "spec.role: Required value"},
		{"a role that does not exist", `spec: {role: master}`,
			`supported values: "Primary", "Secondary", "primary", "secondary"`},
		{"more pods than the most", `spec: {role: Primary, replicas: 101}`,
			"spec.replicas in body should be less than or equal to 100"},
		{"a volume for several pods", `spec: {role: Primary, replicas: 2, storage: {storageType: persistentVolumeClaim}}`,
			"a persistentVolumeClaim holds the zones of one pod; set replicas to 1 or 0, or make several instances"},
		{"storage that does not exist", `spec: {role: Primary, storage: {storageType: hostPath}}`,
			"spec.storage.storageType"},
		{"a size that is none", `spec: {role: Primary, storage: {persistentVolumeClaim: {size: big}}}`,
			"size is an amount of storage such as 1Gi"},
		{"a size of nothing", `spec: {role: Primary, storage: {persistentVolumeClaim: {size: "0"}}}`,
			"size is an amount of storage such as 1Gi"},
		{"an access mode that does not exist", `spec: {role: Primary, storage: {persistentVolumeClaim: {accessModes: [rw]}}}`,
			"spec.storage.persistentVolumeClaim.accessModes[0]"},
		{"a primary server that is a name", `spec: {role: Secondary, primaryServers: [ns1.example.]}`,
			"these are IP addresses"},
		{"forms of a key's Secret that differ",
			`spec: {role: Primary, rndcSecretRef: {name: a}, rndcKey: {secretRef: {name: b}}}`,
			"rndcSecretRef and rndcKey.secretRef are two forms of one field and differ"},
		{"a clusterRef with a path", `spec: {role: Primary, clusterRef: a/b}`, "spec.clusterRef"},
	})
}
