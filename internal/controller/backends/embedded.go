package backends

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// EmbeddedSettings are those of the operator's own name server: who follows it.
type EmbeddedSettings struct {
	Name     string // of the Backend, whose zones they are about
	Transfer []TransferSettings
	Notify   []NotifySettings
	Update   []UpdateSettings
	// who may write by the protocol of external-dns
	ExternalDNS []TokenSettings
	Catalog     dnsname.Name // zero: none
}

// TransferSettings let somebody copy zones: who asks from one of the addresses, if
// there are any, and signs with the key, if it is one.
type TransferSettings struct {
	Addresses []netip.Prefix
	Key
}

// UpdateSettings let who signs with a key change zones on behalf of a namespace.
type UpdateSettings struct {
	Key
	Namespace string
}

// TokenSettings let who has a token act for a namespace.
type TokenSettings struct{ Token, Namespace string }

// minToken is how many characters a token has at least: fewer are guessed.
const minToken = 16

// NotifySettings are a server to be told of changes.
type NotifySettings struct {
	Address netip.AddrPort
	Key
}

func (r resolver) embeddedServer(spec *v1alpha1.Embedded) (Settings, *controller.Outcome) {
	if !r.embedded {
		return Settings{}, problem(controller.ReasonNotSupported,
			"This operator is not a name server; start it with --dns-bind-address, such as :5353, or use another kind of "+
				"server.")
	}
	var trouble *controller.Outcome
	out := &EmbeddedSettings{
		Transfer:    entries("transfer", spec.Transfer, r.transfer, &trouble),
		Notify:      entries("notify", spec.Notify, r.notify, &trouble),
		Update:      entries("update", spec.Update, r.update, &trouble),
		ExternalDNS: entries("externalDNS", spec.ExternalDNS, r.token, &trouble),
	}
	var err error
	if out.Catalog, err = catalogOf(spec); err != nil && trouble == nil { // it lets nobody in, and keeps nobody out
		trouble = problem(controller.ReasonInvalidSpec, "The catalogZone %v; write one such as catalog.example.", err)
	}
	return Settings{Embedded: out}, trouble
}

// entries reads those of a list that can be read, and says what is wrong with the first that cannot: that one lets
// nobody in, lest somebody whose Secret is deleted is let in on.
func entries[Rule, Read any](list string, rules []Rule, read func(Rule) (Read, *controller.Outcome),
	trouble **controller.Outcome) (out []Read) {
	for i, rule := range rules {
		entry, wrong := read(rule)
		if wrong == nil {
			out = append(out, entry)
		} else if *trouble == nil {
			*trouble = at(wrong, list, i)
		}
	}
	return out
}

func (r resolver) update(rule v1alpha1.UpdateRule) (UpdateSettings, *controller.Outcome) {
	key, trouble := r.key(&rule.TSIG)
	return UpdateSettings{key, rule.Namespace}, trouble
}

func (r resolver) token(rule v1alpha1.ExternalDNSRule) (TokenSettings, *controller.Outcome) {
	text, trouble := r.secret(rule.SecretRef)
	token := strings.TrimSpace(text)
	if trouble == nil && len(token) < minToken && !r.blind {
		trouble = problem(controller.ReasonInvalidSpec,
			"Secret %s has a token of less than %d characters; make a longer one.", r.named(rule.SecretRef), minToken)
	}
	return TokenSettings{token, rule.Namespace}, trouble
}

// at says which entry of a list has the trouble.
func at(trouble *controller.Outcome, list string, i int) *controller.Outcome {
	return problem(trouble.Reason, "embedded.%s[%d]: %s", list, i, trouble.Message)
}

func (r resolver) transfer(rule v1alpha1.TransferRule) (TransferSettings, *controller.Outcome) {
	if len(rule.Addresses) == 0 && rule.TSIG == nil {
		return TransferSettings{}, problem(controller.ReasonInvalidSpec,
			"It has neither addresses nor a tsig key; add one, because zones are not open to everybody.")
	}
	var out TransferSettings
	for _, text := range rule.Addresses {
		p, err := prefix(text)
		if err != nil {
			return out, problem(controller.ReasonInvalidSpec,
				"%v; write an address or a network, such as 192.0.2.1 or 2001:db8::/32.", err)
		}
		out.Addresses = append(out.Addresses, p)
	}
	key, trouble := r.key(rule.TSIG)
	out.Key = key
	return out, trouble
}

// prefix reads an address, which stands for itself alone, or a network.
func prefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		return p.Masked(), err
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
}

func (r resolver) notify(target v1alpha1.NotifyTarget) (NotifySettings, *controller.Outcome) {
	address, err := endpoint(target.Address)
	if err != nil {
		return NotifySettings{}, problem(controller.ReasonInvalidSpec,
			"%v; write an IP address, with a port if it is not 53, such as 192.0.2.1:5353.", err)
	}
	key, trouble := r.key(target.TSIG)
	return NotifySettings{address, key}, trouble
}

// endpoint reads an IP address with or without a port.
func endpoint(text string) (netip.AddrPort, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(a, 53), nil
	}
	address, err := netip.ParseAddrPort(text)
	if err == nil && address.Port() == 0 {
		err = fmt.Errorf("%q has the port 0", text)
	}
	return address, err
}
