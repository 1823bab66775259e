package sources

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prefix begins the names of external-dns' annotations since its release 0.22, and OldPrefix before. Both are read; of
// two that say the same the former counts.
const (
	Prefix    = "external-dns.kubernetes.io/"
	OldPrefix = "external-dns.alpha.kubernetes.io/"
)

// Annotations that are read, after the prefix.
const (
	hostnameKey         = "hostname"                // names, separated by commas
	internalHostnameKey = "internal-hostname"       // of a Service: names for its cluster IP
	targetKey           = "target"                  // addresses or names, in the place of those of the status
	ttlKey              = "ttl"                     // seconds, or a duration such as 5m
	controllerKey       = "controller"              // who is to look after the object
	accessKey           = "access"                  // of a Service on ports of nodes: public or private
	endpointsTypeKey    = "endpoints-type"          // of a headless Service: NodeExternalIP or HostIP
	ingressSourceKey    = "ingress-hostname-source" // see definedHosts
	gatewaySourceKey    = "gateway-hostname-source" // likewise, of routes
)

// ingressClassKey is older than spec.ingressClassName.
const ingressClassKey = "kubernetes.io/ingress.class"

// annotated returns what an object says in an annotation.
func annotated(o metav1.Object, key string) (value string, said bool) {
	if value, said = o.GetAnnotations()[Prefix+key]; !said {
		value, said = o.GetAnnotations()[OldPrefix+key]
	}
	return value, said
}

// wordsOf returns the words of an annotation.
func wordsOf(o metav1.Object, key string) []string {
	value, _ := annotated(o, key)
	return words(value)
}

// others reports whether an object is for somebody else to look after.
func others(o metav1.Object) bool {
	by, said := annotated(o, controllerKey)
	return said && by != ourController
}

// Values of annotations.
const (
	ourController  = "dns-controller"
	nodeExternalIP = "NodeExternalIP"
	hostIP         = "HostIP"
	definedHosts   = "defined-hosts-only" // the names in the spec
	annotatedHosts = "annotation-only"    // the names in the annotation
)

// foreign are the beginnings of annotations that ask a provider for what no set of records says.
func foreign() []string {
	return []string{"aws-", "azure-", "coredns-", "scw-", "webhook-", "cloudflare-", "alias", "set-identifier",
		"record-type", "google-", "ibmcloud-", "ovh-"}
}

// words splits the value of an annotation.
func words(text string) []string {
	var out []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSuffix(strings.TrimSpace(word), "."); word != "" {
			out = append(out, word)
		}
	}
	return out
}

// targetsOf returns the targets that an object says itself.
func targetsOf(o metav1.Object) []string { return wordsOf(o, targetKey) }

// ttlOf reads the TTL of an object; nil is that of the zone.
func ttlOf(o metav1.Object, w *Wish) *uint32 {
	text, is := annotated(o, ttlKey)
	if !is {
		return nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if d, wrong := time.ParseDuration(text); err != nil && wrong == nil {
		seconds, err = int64(d.Seconds()), nil
	}
	if err != nil || seconds < 1 || seconds > math.MaxInt32 {
		w.note(InvalidAnnotation, "has the annotation %s with the value %q, which is not a time from 1 to %d seconds, so "+
			"the zone's TTL applies; correct it", Prefix+ttlKey, text, math.MaxInt32)
		return nil
	}
	ttl := uint32(seconds)
	return &ttl
}

// unheld tells of annotations with which nothing is done.
func unheld(o metav1.Object, w *Wish) {
	var found []string
	for name := range maps.Keys(o.GetAnnotations()) {
		rest, is := strings.CutPrefix(name, Prefix)
		if !is {
			rest, is = strings.CutPrefix(name, OldPrefix)
		}
		if is && slices.ContainsFunc(foreign(), func(p string) bool { return strings.HasPrefix(rest, p) }) {
			found = append(found, name)
		}
	}
	if slices.Sort(found); len(found) > 0 {
		w.note(UnsupportedAnnotation, "has annotations that are ignored, because they ask a provider for more than records "+
			"can say: %s; remove them", strings.Join(found, ", "))
	}
}
