package bindcar

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// TestRequestsForAnotherPod has requests that came to an address that their pod does not have any more.
func TestRequestsForAnotherPod(t *testing.T) {
	const own, other, bad = "4c2d2f5e-0e65-4a3e-9d7a-0a1f3a3f0a01", "4c2d2f5e-0e65-4a3e-9d7a-0a1f3a3f0a02",
		"Bearer another"
	for _, test := range []struct {
		name, uid, header, token string
		path                     string
		status                   int
	}{
		{"the request is for this pod", own, own, "Bearer " + testToken, "/api/v1/zones", 200},
		{"the request is for this pod, with a wrong token", own, own, bad, "/api/v1/zones", 401},
		{"the request is for another pod", own, other, "Bearer " + testToken, "/api/v1/zones", 421},
		{"the request is for another pod, whose token is another", own, other, bad, "/api/v1/zones", 421},
		{"the request is for another pod, and whether it is ready", own, other, "", "/api/v1/ready", 421},
		{"the request is for no pod", own, " ", "Bearer " + testToken, "/api/v1/zones", 421},
		{"the request does not say for which", own, "", "Bearer " + testToken, "/api/v1/zones", 200},
		{"the request does not say for which, with a wrong token", own, "", bad, "/api/v1/zones", 401},
		{"a probe", own, "", "", "/api/v1/health", 200},
		{"we do not know which pod we are", "", other, "Bearer " + testToken, "/api/v1/zones", 200},
		{"we do not know which pod we are, and the token is wrong", "", other, bad, "/api/v1/zones", 401},
	} {
		f := newAPI(t, Settings{Token: testToken, Limit: DefaultLimit(), Pod: test.uid})
		var headers []string
		if test.header != "" {
			headers = append(headers, PodHeader, test.header)
		}
		if test.token != "" {
			headers = append(headers, "Authorization", test.token)
		}
		status, text := f.send("GET", test.path, "", headers...)
		if status != test.status || status == 421 && strings.Contains(text, own) {
			t.Errorf("%s: the answer is %d %s, not %d", test.name, status, text, test.status)
		}
	}
}

// TestNothingIsDoneForAnotherPod has a request that changes something.
func TestNothingIsDoneForAnotherPod(t *testing.T) {
	f := newAPI(t, Settings{Token: testToken, Limit: DefaultLimit(), Pod: "here"})
	for _, pod := range []struct {
		uid   string
		class error
	}{{"there", ErrMisdirected}, {"here", nil}, {"", nil}} {
		c := f.client(testToken)
		c.Pod = pod.uid
		before, err := f.client(testToken).Content(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = c.Declare(t.Context(), append(before.Zones, "more.test"))
		if !errors.Is(err, pod.class) || err != nil && (errors.Is(err, ErrUnauthorized) || !strings.Contains(err.Error(),
			"HTTP 421")) {
			t.Errorf("what was meant for the pod %q came to %v", pod.uid, err)
		}
		after, err := f.client(testToken).Content(t.Context())
		if changed := len(after.Zones) != len(before.Zones) || after.Declared != before.Declared; err != nil ||
			changed && pod.class != nil {
			t.Errorf("what was meant for the pod %q made of %+v %+v, %v", pod.uid, before, after, err)
		}
	}
}

// TestSeveralPodsAreNoPod has a request that names two.
func TestSeveralPodsAreNoPod(t *testing.T) {
	f := newAPI(t, Settings{Token: testToken, Limit: DefaultLimit(), Pod: "here"})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/api/v1/zones", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{PodHeader: {"here", "there"}, "Authorization": {"Bearer " + testToken}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("the answer is %d", resp.StatusCode)
	}
}
