package zones

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// A zone is signed by one of its primaries, whose keys are in its volume; the others follow it as secondaries do. Two
// that signed would have keys of their own, and a resolver that has the keys of one would take the answers of the other
// for forged. The signer stays who it is: the parent zone names its keys.

// Words of dnssecPolicy beside the name of the servers' policy.
const (
	policyNone    = "none"
	policyDefault = "default" // BIND's own
)

// A signer is which of the primaries of a zone signs it.
type signer struct {
	instance client.ObjectKey // zero: none, and none has
	policy   string           // that it has in BIND
	trouble  string           // why the zone is not signed as it should be, as a sentence
	gone     bool             // the signer is not among the instances any more, and nobody can take its place
}

func (s signer) none() bool { return s.instance == (client.ObjectKey{}) }

// withSigner has one primary of a zone sign it, if it is to be signed or has been, and the others follow that one.
func (st *state) withSigner(id zone.ID, f fleetOf) fleetOf {
	k, none := st.known[id], client.ObjectKey{}
	if k == nil || k.zone == nil {
		return f
	}
	asked, was := k.zone.Spec.DNSSECPolicy, k.signer()
	before := st.fleets[id].signer.policy
	able := slices.DeleteFunc(slices.Clone(f.primaries), func(key client.ObjectKey) bool {
		return slices.Contains(f.barred, key)
	})
	there, now := slices.Contains(able, was), st.keysIn(was)
	if was != none && k.signed() && (!there || st.lost(was, k.keysIn)) {
		f.signer = signer{instance: was, policy: before, gone: true, trouble: keysLost(was)}
		if !there {
			f.signer.trouble = signerGone(was, slices.Contains(f.barred, was))
		}
		f.secondaries, f.primaries = append(f.secondaries, f.primaries...), nil
		return f
	}
	if !there {
		was, f.signer.trouble = st.chooseSigner(asked, able)
		if was == none {
			f.signer.trouble = cmp.Or(f.signer.trouble, st.barredSigner(asked, f.barred))
			return f
		}
		k.signs, k.keysIn, now = was, "", st.keysIn(was)
	}
	k.keysIn = cmp.Or(now, k.keysIn)
	policy, trouble, known := st.policyAt(was, asked)
	switch {
	case !known:
		policy = before
	case trouble != "":
		policy = cmp.Or(before, bind9.ZonePolicy) // what is signed stays so
	case policy == "":
		policy = bind9.InsecurePolicy
	}
	f.signer = signer{instance: was, policy: policy, trouble: trouble}
	for _, key := range f.primaries {
		if key != was {
			f.secondaries = append(f.secondaries, key)
		}
	}
	f.primaries = []client.ObjectKey{was}
	return f
}

// lost reports whether an instance does not have the keys any more that were in something.
func (st *state) lost(key client.ObjectKey, keysIn string) bool {
	now := st.keysIn(key)
	return keysIn != "" && now != "" && now != keysIn && keysIn != st.hosts[key].signs.Former
}

// signerGone says that the one that has the keys does not sign any more.
func signerGone(was client.ObjectKey, barred bool) string {
	why, way := "is no longer one of its primaries", "choose it again"
	if barred {
		why, way = "is in another namespace and may not sign it",
			"add Signing to the usages of the entry of bind9InstancesFrom that selects it"
	}
	return dialect.Sentence("Bind9Instance %s, which has the keys of the zone, %s, and resolvers would refuse answers "+
		"signed by others while the parent zone has its DS records; %s, or %s", was, why, way, beginAnew)
}

// keysLost says that the one that signed the zone does not have its keys any more.
func keysLost(was client.ObjectKey) string {
	return dialect.Sentence("Bind9Instance %s has lost the keys of the zone, because it was created again or has another "+
		"volume now, and resolvers would refuse answers signed with new ones while the parent zone has its DS records; undo "+
		"a change of its storage, or %s", was, beginAnew)
}

// beginAnew is how a zone gets other keys.
const beginAnew = "remove the DS records, wait until they have expired, and delete and create the DNSZone again."

// keysIn is what has the keys of an instance; "": that is not known.
func (st *state) keysIn(key client.ObjectKey) string {
	if h := st.hosts[key]; h != nil {
		return h.signs.KeysIn
	}
	return ""
}

// barredSigner says that a zone is not signed because those primaries may not that would, as a sentence; "" if none
// would.
func (st *state) barredSigner(asked string, barred []client.ObjectKey) string {
	would, _ := st.chooseSigner(asked, barred)
	if would == (client.ObjectKey{}) {
		return ""
	}
	return dialect.Sentence("Bind9Instance %s may not sign the zone because it is in another namespace; add "+
		"Signing to the usages of the entry of bind9InstancesFrom that selects it, "+
		"or set dnssecPolicy to none", would)
}

// chooseSigner returns the first primary that can sign a zone as it is asked; if there is none, and the zone is to be
// signed, why. While it is not known whether an earlier one can, there is none: the choice is for good, and the last
// primaries of a cluster are the first to go.
func (st *state) chooseSigner(asked string, primaries []client.ObjectKey) (chosen client.ObjectKey, trouble string) {
	for _, key := range primaries {
		policy, why, known := st.policyAt(key, asked)
		switch {
		case !known:
			return client.ObjectKey{}, ""
		case policy != "" && why == "":
			return key, ""
		default:
			trouble = cmp.Or(trouble, why)
		}
	}
	return client.ObjectKey{}, trouble
}

// policyAt is the policy by which BIND signs a zone at an instance, if it does, and why it cannot.
func (st *state) policyAt(key client.ObjectKey, asked string) (policy, trouble string, known bool) {
	h := st.hosts[key]
	if h == nil {
		return "", "", false
	}
	switch name := cmp.Or(asked, h.signs.Policy, policyNone); name {
	case policyNone, bind9.InsecurePolicy:
		return "", "", true
	case policyDefault:
		return policyDefault, h.signs.Trouble, true
	case h.signs.Policy:
		return bind9.ZonePolicy, h.signs.Trouble, true
	default:
		return "", dialect.Sentence("Bind9Instance %s has no DNSSEC policy %s; enable dnssec.signing with that policy in "+
			"its cluster, or correct dnssecPolicy.", key, name), true
	}
}

// signer is who signs the zone, as far as that has been decided.
func (k *known) signer() client.ObjectKey {
	if k.signs == (client.ObjectKey{}) && k.zone.Status.DNSSEC != nil {
		k.signs, _ = instanceOf(k.zone.Status.DNSSEC.Signer)
		k.keysIn = k.zone.Status.DNSSEC.KeysIn
	}
	return k.signs
}

// signed reports whether the zone has been seen with keys.
func (k *known) signed() bool {
	if k.signatures == nil {
		return k.zone.Status.DNSSEC != nil && k.zone.Status.DNSSEC.Signed
	}
	return k.signatures.Keys
}

// insecureTries is how often it is asked, some seconds long, whether keys go that the parent zone never had DS records
// of. Others stay until somebody takes those away, which the next change or audit shows.
const insecureTries = 8

// lookAtSignatures notes what the signer of a zone shows, and reports whether there is more to come.
func (v *visit) lookAtSignatures(ctx context.Context, at Primary) (more bool, err error) {
	signer := v.z.fleetOf(v.f.zone).signer
	if signer.policy == "" {
		return false, nil
	}
	now, err := at.Signatures(ctx, v.name)
	if err != nil {
		return false, err
	}
	st, unlock := v.z.state.Lock()
	k := st.know(v.f.zone)
	news := k.signatures == nil || !reflect.DeepEqual(*k.signatures, now)
	k.signatures = &now
	tries := v.f.tries
	unlock()
	if news {
		v.z.news(v.f.zone)
	}
	if signer.policy == bind9.InsecurePolicy {
		return now.Keys && tries < insecureTries, nil
	}
	return !now.Whole, nil
}

// dnssecOf is what a status says about signatures; nil where nobody has ever signed. As long as nobody is a primary it
// says what it said: it is from the status that an operator that starts learns who signs.
func (r *zoneReport) dnssecOf() *v1beta1.ZoneDNSSEC {
	s := r.fleet.signer
	switch {
	case s.none() && len(r.fleet.primaries) == 0:
		return r.o.Status.DNSSEC
	case s.none():
		return nil
	}
	out := &v1beta1.ZoneDNSSEC{}
	if r.o.Status.DNSSEC != nil {
		out = r.o.Status.DNSSEC.DeepCopy()
	}
	st, unlock := r.z.state.Lock()
	k := st.know(r.id)
	now := k.signatures
	out.Signer, out.KeysIn = s.instance.String(), k.keysIn
	unlock()
	if now != nil {
		out.Signed, out.DSRecords, out.Algorithm, out.KeyTag = now.Whole || now.Keys && out.Signed, now.DS, now.Algorithm, nil
		if now.KeyTag != 0 {
			out.KeyTag = ptr.To(int32(now.KeyTag))
		}
	}
	return out
}

// signingReady is what the signing of a zone that is served takes from its being ready; nil if nothing.
func (s zoneState) signingReady() *controller.Outcome {
	var o controller.Outcome
	switch {
	case s.fleet.signer.trouble != "":
		o = controller.Not(v1beta1.ReasonSigningRefused, s.fleet.signer.trouble)
	case s.signs() && (s.signatures == nil || !s.signatures.Whole):
		o = controller.Not(v1beta1.ReasonPrimaryReconciling, dialect.Sentence("Bind9Instance %s is signing it.",
			s.fleet.signer.instance))
	default:
		return nil
	}
	return &o
}

func (s zoneState) signs() bool {
	return s.fleet.signer.policy != "" && s.fleet.signer.policy != bind9.InsecurePolicy
}

// goingInsecure says that the zone is signed yet, and is not to be; nil if that is not so.
func (s zoneState) goingInsecure() *controller.Outcome {
	if s.fleet.signer.policy != bind9.InsecurePolicy || s.signatures == nil || !s.signatures.Keys {
		return nil
	}
	o := controller.OK(v1beta1.ReasonGoingInsecure, dialect.Sentence("It stays signed while the parent zone may have "+
		"its DS records. Remove them there, then tell BIND in the container bind9 of Bind9Instance %s: rndc -c "+
		"/etc/bind/rndc.conf dnssec -checkds -key %d withdrawn ZONE", s.fleet.signer.instance,
		s.signatures.KeyTag))
	return &o
}
