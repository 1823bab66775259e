package route53test

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"time"
)

const namespace = "https://route53.amazonaws.com/doc/2013-04-01/"

type errorXML struct {
	XMLName   xml.Name `xml:"ErrorResponse"`
	Space     string   `xml:"xmlns,attr"`
	Type      string   `xml:"Error>Type"`
	Code      string   `xml:"Error>Code"`
	Message   string   `xml:"Error>Message"`
	RequestID string   `xml:"RequestId"`
}

// Set is a resource record set as the service shows it.
type Set struct {
	Name          string
	Type          string
	SetIdentifier string   `xml:",omitempty"`
	Weight        *int64   `xml:",omitempty"`
	TTL           *int64   `xml:",omitempty"`
	Records       []string `xml:"ResourceRecords>ResourceRecord>Value,omitempty"`
	AliasTarget   *Alias   `xml:",omitempty"`
}

// Alias is what an alias stands for.
type Alias struct {
	HostedZoneID         string `xml:"HostedZoneId"`
	DNSName              string
	EvaluateTargetHealth bool
}

// The order and nesting of elements in sets is the same in answers and requests.
type setXML struct {
	Name          string
	Type          string
	SetIdentifier string      `xml:",omitempty"`
	Weight        *int64      `xml:",omitempty"`
	TTL           *int64      `xml:",omitempty"`
	Records       *recordsXML `xml:"ResourceRecords,omitempty"`
	AliasTarget   *Alias      `xml:",omitempty"`
}

type recordsXML struct {
	Record []struct{ Value string } `xml:"ResourceRecord"`
}

func toXML(s *Set) setXML {
	out := setXML{Name: s.Name, Type: s.Type, SetIdentifier: s.SetIdentifier, Weight: s.Weight, TTL: s.TTL,
		AliasTarget: s.AliasTarget}
	if len(s.Records) > 0 {
		out.Records = &recordsXML{}
		for _, value := range s.Records {
			out.Records.Record = append(out.Records.Record, struct{ Value string }{value})
		}
	}
	return out
}

func fromXML(in setXML) Set {
	s := Set{Name: in.Name, Type: in.Type, SetIdentifier: in.SetIdentifier, Weight: in.Weight, TTL: in.TTL,
		AliasTarget: in.AliasTarget}
	if in.Records != nil {
		for _, r := range in.Records.Record {
			s.Records = append(s.Records, r.Value)
		}
	}
	return s
}

type changesXML struct {
	XMLName xml.Name `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ChangeResourceRecordSetsRequest"`
	Changes []struct {
		Action string
		Set    setXML `xml:"ResourceRecordSet"`
	} `xml:"ChangeBatch>Changes>Change"`
}

type changeInfoXML struct {
	ID          string `xml:"Id"`
	Status      string
	SubmittedAt string
}

type zoneXML struct {
	ID              string `xml:"Id"`
	Name            string
	CallerReference string
	PrivateZone     bool  `xml:"Config>PrivateZone"`
	Count           int64 `xml:"ResourceRecordSetCount"`
}

// writeXML answers.
func writeXML(w http.ResponseWriter, status int, answer any) {
	if e, ok := answer.(errorXML); ok {
		e.Space = namespace
		answer = e
	}
	body, err := xml.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_, _ = w.Write(append([]byte(xml.Header), body...))
}

type assumedXML struct {
	XMLName xml.Name  `xml:"https://sts.amazonaws.com/doc/2011-06-15/ AssumeRoleWithWebIdentityResponse"`
	Key     string    `xml:"AssumeRoleWithWebIdentityResult>Credentials>AccessKeyId"`
	Secret  string    `xml:"AssumeRoleWithWebIdentityResult>Credentials>SecretAccessKey"`
	Session string    `xml:"AssumeRoleWithWebIdentityResult>Credentials>SessionToken"`
	Expires time.Time `xml:"AssumeRoleWithWebIdentityResult>Credentials>Expiration"`
}

// assumeRole is the one operation of the Security Token Service.
func (s *Server) assumeRole(w http.ResponseWriter, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	form, err := url.ParseQuery(string(body))
	if err == nil && form.Get("Action") == "AssumeRoleWithWebIdentity" {
		for _, a := range s.accounts {
			for _, u := range a.users {
				if u.role != "" && u.role == form.Get("RoleArn") && u.token == form.Get("WebIdentityToken") {
					writeXML(w, http.StatusOK, assumedXML{Key: u.AccessKeyID, Secret: u.SecretAccessKey, Session: u.SessionToken,
						Expires: s.o.Now().Add(time.Hour).UTC()})
					return
				}
			}
		}
	}
	writeXML(w, http.StatusBadRequest, errorXML{Type: "Sender", Code: "InvalidIdentityToken",
		Message: "Couldn't retrieve verification key from your identity provider"})
}
