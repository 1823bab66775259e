package e2e_test

import (
	"fmt"
	"net/netip"
	"os"
	"testing"
)

// volume is one that somebody made by hand, for a claim of its class.
const volume = `{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce],
  persistentVolumeReclaimPolicy: Retain, storageClassName: %s, hostPath: {path: %s}}}`

func TestZonesOnAVolumeOutliveTheirPod(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	dir := t.TempDir()
	if err := os.Chown(dir, 101, 101); err != nil { // fsGroup does not reach a hostPath
		t.Fatal(err)
	}
	s.apply(volume, s.word, s.word, dir)
	s.apply(instanceManifest, ns, "lone", fmt.Sprintf("role: Primary, storage: {storageType: persistentVolumeClaim, "+
		"persistentVolumeClaim: {size: 1Gi, storageClassName: %s}}", s.word))
	s.awaitReady(instance(ns, "lone"))
	s.makeZone(ns, "lone", "kept.example")
	at := s.service(ns, "lone").At(servicePort)
	if err := update(s.ctx, at, s.key(ns, "lone-rndc-key"),
		addition{"kept.example", "new.kept.example", "192.0.2.9"}); err != nil {
		t.Fatal(err)
	}
	first := s.pod(ns, "lone")
	for _, change := range []func(){
		func() { s.remove(first) },
		func() { s.patch(instance(ns, "lone"), `{"spec":{"config":{"allowTransfer":["192.0.2.1"]}}}`) }, // rolls it
	} {
		before := s.podUIDs(ns)
		change()
		s.eventually("another pod is ready", func() string {
			for _, p := range s.pods(ns, "lone") {
				if before[p.UID] == "" && isReady(&p) {
					return ""
				}
			}
			return "there is none"
		})
		// As soon as it is ready it has everything.
		for _, name := range []string{"www.kept.example", "new.kept.example"} {
			pod := s.pod(ns, "lone")
			if got, err := lookup(s.ctx, "tcp", netip.AddrPortFrom(s.podAddress(pod), podPort), name); err != nil ||
				(got != "192.0.2.1" && got != "192.0.2.9") {
				t.Errorf("%s: the new pod answers %q: %v", name, got, err)
			}
		}
		s.awaitReady(instance(ns, "lone"))
	}
}
