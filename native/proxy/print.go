package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"

	"minilb/core/param"
)

// JSON is the effective configuration as one object, by the names of the flags
// and in their order; a secret is not shown. Durations are in seconds, as a bare number is everywhere.
func (c Config) JSON() ([]byte, error) {
	c = c.masked()
	var out bytes.Buffer
	out.WriteString("{")
	for i, p := range c.Params().All() {
		value, err := json.Marshal(plainValue(p))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, "\n  %q: %s", p.Name, value)
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

// plainValue is a parameter's value as JSON knows values.
func plainValue(p *param.Param) any {
	switch {
	case p.List:
		return p.Texts()
	case p.Kind == param.Bool:
		return p.Float() != 0
	case p.Kind == param.Text || p.Kind == param.Custom:
		return p.String()
	case p.Kind == param.Duration:
		return json.Number(param.FormatFloat(p.Float()))
	}
	return json.Number(p.String())
}
