package bind9

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Signing describes the dnssec-policy that a server has for its zones. The zero value is none.
type Signing struct {
	Enabled bool
	// Policy is its name; "" is "bindy". "default" is BIND's own policy, and then nothing else can be said.
	Policy string
	// Algorithm is ECDSAP256SHA256 when it is "", and the lifetimes are unlimited.
	Algorithm                string
	KSKLifetime, ZSKLifetime string
	NSEC3                    bool
	// NSEC3Salt is accepted and has no effect: BIND makes salts itself, and RFC 9276 §3.1 wants none.
	NSEC3Salt       string
	NSEC3Iterations int
}

// ZonePolicy is the policy that zones which are added are signed by. Every primary has it, whatever the name that
// people know it by and even while nothing is signed: a zone that names a policy which is not there keeps BIND from
// starting.
const ZonePolicy = "zonefold-zones"

// InsecurePolicy is BIND's own for zones that are not to be signed any more: it keeps them signed until the parent has
// no DS of them.
const InsecurePolicy = "insecure"

const (
	defaultPolicy     = "bindy"
	defaultAlgorithm  = "ECDSAP256SHA256"
	maxPolicy         = 63
	maxIterations     = 50 // RFC 9276 §3.1 says 0; validators give up above this
	day               = 24 * 60 * 60
	leastLifetimeDays = 14 // a roll-over takes 10 days with BIND's other times
)

// PolicyName is what zones name in dnssec-policy; "" where nothing is signed.
func (s Signing) PolicyName() string {
	switch {
	case !s.Enabled:
		return ""
	case s.Policy == "":
		return defaultPolicy
	}
	return s.Policy
}

// policies is the text of the dnssec-policy statements: the one by the name that people know, unless that is BIND's own
// or nothing is signed, and, on a primary, ZonePolicy.
func (s Signing) policies(o Options) (string, error) {
	at := o.Path + "dnssec.signing."
	body, err := s.checkedBody(at, o)
	if err != nil {
		return "", err
	}
	text := ""
	for _, name := range []string{s.PolicyName(), ZonePolicy} {
		if name != "" && name != "default" && (name != ZonePolicy || o.Role == Primary) {
			text += fmt.Sprintf("\ndnssec-policy \"%s\" {%s};\n", name, body)
		}
	}
	return text, nil
}

// checkedBody is what the policies say. Where nothing is signed, nobody may have cared about the values.
func (s Signing) checkedBody(at string, o Options) (string, error) {
	if !s.Enabled {
		return Signing{Enabled: true}.body(at, o)
	}
	name := s.PolicyName()
	if err := checkName(at+"policy", name); err != nil || len(name) > maxPolicy || strings.Contains(name, ".") ||
		name[0] == '_' {
		return "", fmt.Errorf("%spolicy is %s; write up to %d letters, digits, '-' and '_' with a letter or digit first", at,
			quoteShort(name), maxPolicy)
	}
	if name == ZonePolicy {
		return "", fmt.Errorf("%spolicy is %q, which the operator uses itself; choose another name, or remove it", at,
			name)
	}
	if isBuiltin(name) && (name != "default" || s != (Signing{Enabled: true, Policy: name})) {
		return "", fmt.Errorf(
			"%spolicy is %q, which is built into BIND and cannot be changed; choose another name, or remove it", at, name)
	}
	return s.body(at, o)
}

func (s Signing) body(at string, o Options) (string, error) {
	algorithm := strings.ToUpper(s.Algorithm)
	if algorithm == "" {
		algorithm = defaultAlgorithm
	}
	if !slices.Contains(signingAlgorithms, algorithm) {
		return "", fmt.Errorf("%salgorithm is %s; write one of %s", at, quoteShort(s.Algorithm),
			strings.Join(signingAlgorithms, ", "))
	}
	ksk, err := lifetime(at+"kskLifetime", s.KSKLifetime)
	if err != nil {
		return "", err
	}
	zsk, err := lifetime(at+"zskLifetime", s.ZSKLifetime)
	if err != nil {
		return "", err
	}
	nsec3, err := s.nsec3(o)
	return fmt.Sprintf(`
	keys {
		ksk key-directory lifetime %s algorithm %s;
		zsk key-directory lifetime %s algorithm %s;
	};
%s`, ksk, algorithm, zsk, algorithm, nsec3), err
}

func (s Signing) nsec3(o Options) (string, error) {
	at := o.Path + "dnssec.signing."
	most := maxIterations
	if o.atLeast(9, 20) {
		most = 0
	}
	switch {
	case s.NSEC3Iterations < 0 || s.NSEC3Iterations > most:
		return "", fmt.Errorf("%snsec3Iterations is %d; this version of BIND accepts 0 to %d, and RFC 9276 asks for 0", at,
			s.NSEC3Iterations, most)
	case len(s.NSEC3Salt) > maxElement || !plainText.MatchString(s.NSEC3Salt):
		return "", fmt.Errorf(
			"%snsec3Salt is not a hexadecimal number or \"-\"; remove it, because BIND makes salts itself", at)
	case !s.NSEC3:
		return "", nil
	}
	return fmt.Sprintf("\tnsec3param iterations %d optout no salt-length 0;\n", s.NSEC3Iterations), nil
}

// plainText is what a salt may look like. It is not written anywhere.
var plainText = regexp.MustCompile(`^[A-Za-z0-9-]*$`)

var (
	ttlDuration = regexp.MustCompile(
		`^(?:([0-9]{1,5})w)?(?:([0-9]{1,5})d)?(?:([0-9]{1,6})h)?(?:([0-9]{1,8})m)?(?:([0-9]{1,10})s?)?$`)
	isoDuration = regexp.MustCompile(
		`^P(?:([0-9]{1,3})Y)?(?:([0-9]{1,4})M)?(?:([0-9]{1,5})D)?(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,10})S)?)?$`)
	isoWeeks = regexp.MustCompile(`^P([0-9]{1,5})W$`)
)

// lifetime accepts unlimited, a TTL-style duration such as 1w2d, and those of ISO 8601 that BIND takes.
func lifetime(field, text string) (string, error) {
	if text == "" || strings.EqualFold(text, "unlimited") || text == "0" {
		return "unlimited", nil
	}
	var seconds int64
	switch ttl, iso, weeks := ttlDuration.FindStringSubmatch(strings.ToLower(text)), isoDuration.FindStringSubmatch(text),
		isoWeeks.FindStringSubmatch(text); {
	case ttl != nil:
		seconds = sum(ttl[1:], 7*day, day, 3600, 60, 1)
	case iso != nil && text != "P" && !strings.HasSuffix(text, "T"):
		seconds = sum(iso[1:], 365*day, 30*day, day, 3600, 60, 1)
	case weeks != nil:
		seconds = sum(weeks[1:], 7*day)
	default:
		return "", fmt.Errorf("%s is %s, which is not a duration; write unlimited, or one such as 90d or P90D", field,
			quoteShort(text))
	}
	const most = 100 * 365 * day // BIND counts seconds in 32 bits
	if seconds < leastLifetimeDays*day || seconds > most {
		return "", fmt.Errorf(
			"%s is %s; write unlimited, or at least %dd, because a new key needs days to spread, and at most 100 years",
			field, quoteShort(text), leastLifetimeDays)
	}
	return text, nil
}

func sum(counts []string, units ...int64) (total int64) {
	for i, count := range counts {
		n, _ := strconv.ParseInt(count, 10, 64) // "" where a unit is left out
		total += n * units[i]
	}
	return total
}
