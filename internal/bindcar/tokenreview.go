package bindcar

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// A tokenReview is the part of the object that matters here.
type tokenReview struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Spec       reviewSpec   `json:"spec"`
	Status     reviewStatus `json:"status"`
}

type reviewSpec struct {
	Token     string   `json:"token"`
	Audiences []string `json:"audiences,omitempty"`
}

type reviewStatus struct {
	Authenticated bool     `json:"authenticated"`
	Audiences     []string `json:"audiences,omitempty"`
	User          struct {
		Username string `json:"username"`
	} `json:"user"`
}

// ask has the API server look at a token.
func (r *reviews) ask(ctx context.Context, token string) (reviewStatus, error) {
	body, err := json.Marshal(tokenReview{
		APIVersion: "authentication.k8s.io/v1", Kind: "TokenReview", Spec: reviewSpec{Token: token, Audiences: r.Audiences},
	})
	if err != nil {
		return reviewStatus{}, err
	}
	own, err := os.ReadFile(r.TokenFile)
	if err != nil {
		return reviewStatus{}, err
	}
	client, err := r.client()
	if err != nil {
		return reviewStatus{}, err
	}
	url := strings.TrimSuffix(r.APIServer, "/") + "/apis/authentication.k8s.io/v1/tokenreviews"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return reviewStatus{}, err
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(own)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return reviewStatus{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated && resp.StatusCode != http.StatusOK {
		return reviewStatus{}, fmt.Errorf("it answers %s; our ServiceAccount needs the right to create tokenreviews",
			resp.Status)
	}
	var answer tokenReview
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer); err != nil {
		return reviewStatus{}, fmt.Errorf("reading its answer: %w", err)
	}
	return answer.Status, nil
}

// client trusts the authority in the file, which may be replaced.
func (r *reviews) client() (*http.Client, error) {
	ca, err := os.ReadFile(r.CAFile)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.http != nil && bytes.Equal(ca, r.ca) {
		return r.http, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s has no certificate", r.CAFile)
	}
	r.ca, r.http = ca, &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
			IdleConnTimeout: 90 * time.Second},
		// our token goes nowhere else
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return r.http, nil
}
