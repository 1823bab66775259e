package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// leaderLock is the Lease as a lock. Who holds it says in it where its name server answers the other replicas.
func leaderLock(config *rest.Config, o options, at netip.AddrPort) (*term, error) {
	identity := string(uuid.NewUUID()) // of the machine's own chance: no two replicas may ever have the same
	if at.IsValid() {
		identity = at.String() + "_" + identity
	}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, o.namespace, zonefold.LeaderLease,
		resourcelock.ResourceLockConfig{Identity: identity}, config, o.renew)
	if err != nil {
		return nil, fmt.Errorf("preparing to lead: %w", err)
	}
	// The Lease counts whole seconds.
	return &term{Interface: lock, length: o.lease.Truncate(time.Second)}, nil
}

// errNobodyLeads says that no replica can be asked now.
var errNobodyLeads = errors.New("no operator leads yet")

// another returns where a replica leads that is not the one at own.
func another(ctx context.Context, own netip.AddrPort, leader findLeader) (netip.AddrPort, error) {
	at, known, err := leader(ctx)
	if err == nil && (!known || at == own) {
		err = errNobodyLeads
	}
	return at, err
}

// leaderAddress returns where the leader's name server answers; false when nobody leads, or leads without one.
func leaderAddress(ctx context.Context, reader client.Reader, namespace string) (netip.AddrPort, bool, error) {
	var lease coordinationv1.Lease
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: zonefold.LeaderLease}, &lease)
	if apierrors.IsNotFound(err) {
		return netip.AddrPort{}, false, nil
	}
	if err != nil {
		return netip.AddrPort{}, false, fmt.Errorf("finding the leader: %w", err)
	}
	if lease.Spec.HolderIdentity == nil {
		return netip.AddrPort{}, false, nil
	}
	text, _, ok := strings.Cut(*lease.Spec.HolderIdentity, "_")
	at, err := netip.ParseAddrPort(text)
	return at, ok && err == nil, nil
}

// heartbeat is one that renews a Lease of this operator.
func (p *parts) heartbeat(name, holder string) controller.Heartbeat {
	return controller.Heartbeat{
		Client: p.GetClient(), Live: p.GetAPIReader(), Namespace: p.namespace, Name: name, Holder: holder,
		Interval: 10 * time.Second, Length: 30 * time.Second, Clock: time.Now, Log: p.log,
	}
}

// addPresence has an operator without election say that it runs: "zonefold release" must not go ahead beside it.
func addPresence(p *parts) error {
	if p.election {
		return nil
	}
	return p.Add(manager.RunnableFunc(p.heartbeat(zonefold.PresenceLease, p.term.Identity()).Run))
}

// advertised returns where the other replicas reach a name server that listens at an address.
func advertised(said, podIP string, listen netip.AddrPort) (netip.AddrPort, error) {
	switch {
	case said != "":
		at, err := netip.ParseAddrPort(said)
		if err != nil {
			return at, fmt.Errorf("--dns-advertise-address: %w; write an address with a port, such as 192.0.2.1:5353", err)
		}
		return at, nil
	case !listen.Addr().IsUnspecified():
		return listen, nil
	}
	ip, err := netip.ParseAddr(podIP)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf(
			"the other replicas cannot reach the name server at %s; set --dns-advertise-address, or $POD_IP", listen)
	}
	return netip.AddrPortFrom(ip, listen.Port()), nil
}

// replicaSecret is the Secret with the key that replicas sign transfers among themselves with.
const replicaSecret = "zonefold-replicas"

// replicaKey returns that key, which the first replica makes.
func replicaKey(ctx context.Context, c client.Client, namespace string) (*embedded.Key, error) {
	name, err := dnsname.Parse("replicas.zonefold.invalid.")
	if err != nil {
		return nil, err
	}
	var secret corev1.Secret
	key := client.ObjectKey{Namespace: namespace, Name: replicaSecret}
	err = c.Get(ctx, key, &secret)
	if apierrors.IsNotFound(err) {
		fresh := make([]byte, 32)
		if _, err := rand.Read(fresh); err != nil {
			return nil, fmt.Errorf("making the key of the replicas: %w", err)
		}
		secret.Namespace, secret.Name = namespace, replicaSecret
		secret.Data = map[string][]byte{"key": []byte(base64.StdEncoding.EncodeToString(fresh))}
		if err = c.Create(ctx, &secret); apierrors.IsAlreadyExists(err) {
			err = c.Get(ctx, key, &secret)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of the replicas from Secret %s/%s: %w", namespace, replicaSecret, err)
	}
	if len(secret.Data["key"]) == 0 {
		return nil, fmt.Errorf("the Secret %s/%s has no key %q; delete it, and the operator makes another", namespace,
			replicaSecret, "key")
	}
	return &embedded.Key{Name: name, Secret: strings.TrimSpace(string(secret.Data["key"]))}, nil
}
