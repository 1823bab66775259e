package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

// changeRecord changes an address a few times and measures how long it takes until BIND answers with it.
func (s *stage) changeRecord(ctx context.Context) error {
	s.chapter("A change",
		"How long does it take from kubectl to the answer of BIND? Starting kubectl takes longer than all the "+
			"rest, so the demo",
		"sends the same request itself over an open connection, and asks BIND until the new address is there.")
	send, err := s.sender(ctx, "192.0.2.81")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i := range 5 {
		address := fmt.Sprintf("192.0.2.%d", 81+i)
		began := time.Now()
		if err := send(ctx, address); err != nil {
			return err
		}
		if err := answers(ctx, s.bind, address); err != nil {
			return err
		}
		s.say("  BIND answers with %s after %.1f milliseconds", address, milliseconds(began))
	}
	return s.dig(ctx, s.bind, question{www, "A", []string{www + " A 192.0.2.85"}})
}

// www is the name whose address changes.
const www = "www.team-a.example.org."

func milliseconds(since time.Time) float64 { return time.Since(since).Seconds() * 1000 }

// answers asks a server over and over until it answers with the address alone.
func answers(ctx context.Context, server *nameserver.Server, address string) error {
	name, err := dnsname.Parse(www)
	if err != nil {
		return err
	}
	for {
		answer, err := server.Lookup(ctx, rr.Key{Name: name, Type: rr.TypeA})
		if err != nil {
			return err
		}
		if len(answer.Sets) == 1 && slices.Equal(answer.Sets[0].Data, []string{address}) {
			return nil
		}
	}
}

// sender prints the command that gives www an address, and returns a function that does the same.
func (s *stage) sender(ctx context.Context, first string) (func(ctx context.Context, address string) error, error) {
	patch := func(address string) string { return fmt.Sprintf(`{"spec":{"rdata":%q}}`, address) }
	s.command("kubectl", "patch", "records.kubi.zone/www-v4", "-n", "team-a", "--type=merge", "-p", patch(first))
	send, err := s.patcher("/apis/kubi.zone/v1alpha1/namespaces/team-a/records/www-v4")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, address string) error { return send(ctx, patch(address)) },
		send(ctx, `{}`) // opens the connection and changes nothing
}

// kubeconfig is the part of a kubeconfig that a client needs.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server    string `json:"server"`
			Authority []byte `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		User struct {
			Certificate []byte `json:"client-certificate-data"`
			Key         []byte `json:"client-key-data"`
		} `json:"user"`
	} `json:"users"`
}

// patcher returns a function that sends merge patches for one object as the administrator.
func (s *stage) patcher(path string) (func(ctx context.Context, patch string) error, error) {
	client, server, err := s.administrator()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, patch string) error { return sendPatch(ctx, client, server+path, patch) }, nil
}

// getter returns a function that reads what is at a path as the administrator.
func (s *stage) getter(path string) (func(ctx context.Context, into any) error, error) {
	client, server, err := s.administrator()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, into any) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+path, nil)
		if err != nil {
			return err
		}
		return exchange(client, request, into)
	}, nil
}

// administrator is a client of the API server, and where that is.
func (s *stage) administrator() (*http.Client, string, error) {
	if s.admin != nil {
		return s.admin, s.cluster.Server(), nil
	}
	text, err := os.ReadFile(s.cluster.Kubeconfig())
	if err != nil {
		return nil, "", err
	}
	var config kubeconfig
	if err := yaml.Unmarshal(text, &config); err != nil || len(config.Clusters) != 1 || len(config.Users) != 1 {
		return nil, "", errors.Join(fmt.Errorf("%s is not a kubeconfig with one cluster and one user",
			s.cluster.Kubeconfig()), err)
	}
	user := config.Users[0].User
	certificate, err := tls.X509KeyPair(user.Certificate, user.Key)
	if err != nil {
		return nil, "", fmt.Errorf("reading the administrator's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.Clusters[0].Cluster.Authority)
	s.admin = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}, RootCAs: roots,
	}}}
	return s.admin, s.cluster.Server(), nil
}

func sendPatch(ctx context.Context, client *http.Client, url, patch string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, url, bytes.NewReader([]byte(patch)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/merge-patch+json")
	return exchange(client, request, nil)
}

// exchange sends a request to the API server, and reads the object that it answers with unless into is nil.
func exchange(client *http.Client, request *http.Request, into any) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading the answer of the API server: %w", err)
	}
	var status struct {
		Message string `json:"message"`
	}
	if response.StatusCode != http.StatusOK {
		_ = json.Unmarshal(body, &status) // only for the message
		return fmt.Errorf("the API server answers %s: %s", response.Status, status.Message)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}
