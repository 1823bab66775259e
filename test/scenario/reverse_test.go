package scenario

import "testing"

func TestAddressesHaveNames(t *testing.T) {
	s := newStage(t)
	s.bind = s.ownServer()
	s.run("while records of them are accepted", func(s *scene) {
		s.apply(`backend b: {embedded: {}}` + "\n" + www("b") + "\n" +
			`zone a/four: {domainName: 2.0.192.in-addr.arpa., reverse: {}, backendRefs: [{name: ~b}]}`)
		s.ready("backend b", "zone a/org", "zone a/four", "record a/www")
		s.answers("1.2.0.192.in-addr.arpa. PTR", "www.example.org.")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.answers("2.2.0.192.in-addr.arpa. PTR", "www.example.org.")
		s.answers("1.2.0.192.in-addr.arpa. PTR")
		s.remove("record a/www")
		s.answers("2.2.0.192.in-addr.arpa. PTR")
		s.remove("zone a/four")
		s.gone("zone a/four")
	})
}
