package bindcar

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// Where a pod finds its own token and the API server's authority.
const (
	podTokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"
	podCAFile    = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
)

// parseAuth decides who may call: the holders of one token, or the ServiceAccounts of the lists.
func parseAuth(s *Settings, env func(string) string) error {
	disabled, err := boolean(env, "DISABLE_AUTH", false)
	if err != nil {
		return err
	}
	server, token, ca := env("KUBE_API_SERVER"), env("KUBE_TOKEN_PATH"), env("KUBE_CA_CERT_PATH")
	if given := server != "" || token != "" || ca != ""; given && (server == "" || token == "" || ca == "") {
		return errors.New("KUBE_API_SERVER, KUBE_TOKEN_PATH and KUBE_CA_CERT_PATH belong together: set all three or none")
	}
	shared := strings.TrimSpace(env("BIND_API_TOKEN"))
	switch {
	case disabled:
		s.Warnings = append(s.Warnings, "authentication is disabled: everyone who can reach the API may change zones")
		return nil
	case shared != "" && server != "":
		return errors.New(
			"BIND_API_TOKEN and KUBE_API_SERVER are both set, and only one of them can say who may call; unset one")
	case shared != "":
		if env("BIND_ALLOWED_NAMESPACES") != "" || env("BIND_ALLOWED_SERVICE_ACCOUNTS") != "" {
			s.Warnings = append(s.Warnings,
				"BIND_API_TOKEN is set, so the lists of allowed namespaces and ServiceAccounts are ignored")
		}
		s.Token = shared
		return nil
	}
	if server == "" {
		host, port := env("KUBERNETES_SERVICE_HOST"), env("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return errors.New("callers cannot be identified: set BIND_API_TOKEN, or KUBE_API_SERVER, " +
				"KUBE_TOKEN_PATH and KUBE_CA_CERT_PATH, or run in a cluster; " +
				"DISABLE_AUTH=true on a loopback BIND_API_ADDRESS needs none of them")
		}
		server, token, ca = "https://"+net.JoinHostPort(host, port), podTokenFile, podCAFile
	}
	return parseReview(s, env, Reviewer{APIServer: server, TokenFile: token, CAFile: ca})
}

func parseReview(s *Settings, env func(string) string, r Reviewer) error {
	if !strings.HasPrefix(r.APIServer, "https://") {
		return fmt.Errorf(
			"KUBE_API_SERVER is %s; it must begin with https:// because tokens are sent there", clip(r.APIServer))
	}
	r.Audiences = words(orElse(env("BIND_TOKEN_AUDIENCES"), "bindcar"))
	r.Namespaces, r.ServiceAccounts = words(env("BIND_ALLOWED_NAMESPACES")), words(env("BIND_ALLOWED_SERVICE_ACCOUNTS"))
	for _, name := range r.ServiceAccounts {
		if _, ok := serviceAccount(name); !ok {
			return fmt.Errorf(
				"BIND_ALLOWED_SERVICE_ACCOUNTS has %s, which is not of the form system:serviceaccount:NAMESPACE:NAME", clip(name))
		}
	}
	anybody, err := boolean(env, "BIND_ALLOW_ANY_SERVICEACCOUNT", false)
	switch {
	case err != nil:
		return err
	case len(r.Audiences) == 0:
		return errors.New("BIND_TOKEN_AUDIENCES is empty; a token for another audience could come from anyone")
	case len(r.Namespaces)+len(r.ServiceAccounts) == 0 && !anybody:
		return errors.New("neither BIND_ALLOWED_SERVICE_ACCOUNTS nor BIND_ALLOWED_NAMESPACES is set, so every " +
			"ServiceAccount of the cluster could change zones; " +
			"name who may, or set BIND_ALLOW_ANY_SERVICEACCOUNT=true")
	}
	s.Review = &r
	return nil
}

// words splits a list at commas.
func words(list string) []string {
	var found []string
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			found = append(found, word)
		}
	}
	return found
}
