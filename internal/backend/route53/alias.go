package route53

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A CNAME to a load balancer of Amazon's that has a hint is held as aliases: sets of addresses that the service itself
// takes from the load balancer. They may be at the apex, and asking for them costs nothing. The hint says which
// addresses there are to be. They have no TTL.

// families are the types of addresses that a hint names.
func families(hint string) []types.RRType {
	switch hint {
	case "ipv4":
		return []types.RRType{types.RRTypeA}
	case "ipv6":
		return []types.RRType{types.RRTypeAaaa}
	case "dual-stack":
		return []types.RRType{types.RRTypeA, types.RRTypeAaaa}
	}
	return nil
}

// balanceable reports whether a change is about a set that may be held as aliases, now or as it was.
func balanceable(c plan.Change) bool {
	if c.Key.Type != rr.TypeCNAME {
		return false
	}
	if c.Deletes() {
		return !believed(c) || c.Have.Hint != ""
	}
	return c.Want.Hint != ""
}

// balanced reports whether a set is held as aliases.
func balanced(set rr.Set) bool {
	return set.Type == rr.TypeCNAME && len(set.Data) == 1 && families(set.Hint) != nil && balancerZone(set.Data[0]) != ""
}

// held is a set as the service takes it; nothing for a set without data.
func held(set rr.Set) []*types.ResourceRecordSet {
	switch {
	case len(set.Data) == 0:
		return nil
	case !balanced(set):
		return []*types.ResourceRecordSet{toSet(set)}
	}
	var out []*types.ResourceRecordSet
	for _, family := range families(set.Hint) {
		out = append(out, &types.ResourceRecordSet{
			Name: aws.String(say(set.Name.String())), Type: family,
			AliasTarget: &types.AliasTarget{DNSName: aws.String(say(set.Data[0])),
				HostedZoneId: aws.String(balancerZone(set.Data[0])), EvaluateTargetHealth: true},
		})
	}
	return out
}

// standsIn reports whether a set is one that a CNAME may have been held as, when a change is about such a CNAME.
func standsIn(c plan.Change, set *types.ResourceRecordSet) bool {
	if !balanceable(c) || set.SetIdentifier != nil || set.AliasTarget == nil ||
		set.Type != types.RRTypeA && set.Type != types.RRTypeAaaa {
		return false
	}
	return balancerZone(strings.ToLower(absolute(aws.ToString(set.AliasTarget.DNSName)))) != ""
}

// balancerZone returns the hosted zone that a load balancer's name is in, by which aliases refer to it; "" if it is no
// such name. https://docs.aws.amazon.com/general/latest/gr/elb.html
func balancerZone(target string) string {
	labels := strings.Split(strings.TrimSuffix(target, "."), ".")
	china := len(labels) > 1 && labels[len(labels)-1] == "cn"
	if china {
		labels = labels[:len(labels)-1]
	}
	n := len(labels)
	if n > 2 && !china && labels[n-2] == "awsglobalaccelerator" && labels[n-1] == "com" {
		return "Z2BJ6XQ5FK7U4H"
	}
	if n < 5 || strings.Contains(target, `\`) || labels[n-2] != "amazonaws" || labels[n-1] != "com" {
		return ""
	}
	var zone string
	switch region, service := labels[n-4], labels[n-3]; {
	case service == "elb" && strings.HasPrefix(region, "cn-") == china: // application and classic load balancers
		zone = balancers()[region].application
	case region == "elb" && strings.HasPrefix(service, "cn-") == china: // network load balancers
		zone = balancers()[service].network
	}
	return zone
}

// balancerZones are those of one region.
type balancerZones struct{ application, network string }

func balancers() map[string]balancerZones {
	return map[string]balancerZones{
		"af-south-1":     {"Z268VQBMOI5EKX", "Z203XCE67M25HM"},
		"ap-east-1":      {"Z3DQVH9N71FHZ0", "Z12Y7K3UBGUAD1"},
		"ap-northeast-1": {"Z14GRHDCWA56QT", "Z31USIVHYNEOWT"},
		"ap-northeast-2": {"ZWKZPGTI48KDX", "ZIBE1TIR4HY56"},
		"ap-northeast-3": {"Z5LXEXXYW11ES", "Z1GWIQ4HH19I5X"},
		"ap-south-1":     {"ZP97RAFLXTNZK", "ZVDDRBQ08TROA"},
		"ap-south-2":     {"Z0173938T07WNTVAEPZN", "Z0711778386UTO08407HT"},
		"ap-southeast-1": {"Z1LMS91P8CMLE5", "ZKVM4W9LS7TM"},
		"ap-southeast-2": {"Z1GM3OXH4ZPM65", "ZCT6FZBF4DROD"},
		"ap-southeast-3": {"Z08888821HLRG5A9ZRTER", "Z01971771FYVNCOVWJU1G"},
		"ap-southeast-4": {"Z09517862IB2WZLPXG76F", "Z01156963G8MIIL7X90IV"},
		"ap-southeast-5": {"Z06010284QMVVW7WO5J", "Z026317210H9ACVTRO6FB"},
		"ap-southeast-7": {"Z0390008CMBRTHFGWBCB", "Z054363131YWATEMWRG5L"},
		"ca-central-1":   {"ZQSVJUPU6J1EY", "Z2EPGBW3API2WT"},
		"ca-west-1":      {"Z06473681N0SF6OS049SD", "Z02754302KBB00W2LKWZ9"},
		"cn-north-1":     {"Z1GDH35T77C1KE", "Z3QFB96KMJ7ED6"},
		"cn-northwest-1": {"ZM7IZAIOVVDZF", "ZQEIKTCZ8352D"},
		"eu-central-1":   {"Z215JYRZR1TBD5", "Z3F0SRJ5LGBH90"},
		"eu-central-2":   {"Z06391101F2ZOEP8P5EB3", "Z02239872DOALSIDCX66S"},
		"eu-north-1":     {"Z23TAZ6LKFMNIO", "Z1UDT6IFJ4EJM"},
		"eu-south-1":     {"Z3ULH7SSC9OV64", "Z23146JA1KNAFP"},
		"eu-south-2":     {"Z0956581394HF5D5LXGAP", "Z1011216NVTVYADP1SSV"},
		"eu-west-1":      {"Z32O12XQLNTSW2", "Z2IFOLAFXWLO4F"},
		"eu-west-2":      {"ZHURV8PSTC4K8", "ZD4D7Y8KGAS4G"},
		"eu-west-3":      {"Z3Q77PNBQS71R4", "Z1CMS0P5QUZ6D5"},
		"il-central-1":   {"Z09170902867EHPV2DABU", "Z0313266YDI6ZRHTGQY4"},
		"me-central-1":   {"Z08230872XQRWHG2XF6I", "Z00282643NTTLPANJJG2P"},
		"me-south-1":     {"ZS929ML54UICD", "Z3QSRYVP46NYYV"},
		"mx-central-1":   {"Z023552324OKD1BB28BH5", "Z02031231H3ID6HYJ9A7U"},
		"sa-east-1":      {"Z2P70J7HTTTPLU", "ZTK26PT1VY4CU"},
		"us-east-1":      {"Z35SXDOTRQ7X7K", "Z26RNL4JYFTOTI"},
		"us-east-2":      {"Z3AADJGX6KTTL2", "ZLMOA37VPKANP"},
		"us-gov-east-1":  {"Z166TLBEWOO7G0", "Z1ZSMQQ6Q24QQ8"},
		"us-gov-west-1":  {"Z33AYJ8TM3BH4J", "ZMG1MZ2THAWF1"},
		"us-west-1":      {"Z368ELLRRE2KJ0", "Z24FKFUX50B4VW"},
		"us-west-2":      {"Z1H1FL5HABSF5", "Z18D5FSROUN65G"},
	}
}
