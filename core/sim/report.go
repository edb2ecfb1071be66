package sim

import (
	"bytes"
	"encoding/json"

	"minilb/core/scenario"
)

// JSON is the report as one indented object with a newline at its end. Equal
// scenarios give equal bytes.
func (r Report) JSON() []byte {
	out := struct {
		Seed      uint64   `json:"seed"`
		Link      string   `json:"link"`
		Truncated string   `json:"truncated,omitempty"`
		Results   []Result `json:"results"`
	}{r.Scenario.Seed, scenario.Encode(r.Scenario), r.Truncated, r.Results}
	if out.Results == nil {
		out.Results = []Result{} // cancelled before anything was done: still a list
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		panic("sim: " + err.Error()) // figures are finite and names are plain
	}
	return append(text, '\n')
}

// MarshalJSON writes the shares as one object, in the scenario's order; a map
// would put them in the order of the alphabet.
func (s Shares) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, share := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, part := range [...]any{share.Backend, share.Fraction} {
			text, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			b.Write(text)
			if j == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
