package settings

// File is what a layer may say, in librarian.yml of an organisation's .github repository or in a repository's
// .github/librarian.yml. What it does not name stays as it is above. The doc tags are the descriptions in the JSON Schema.
type File struct {
	Enabled  *bool         `yaml:"enabled" doc:"false: librarian answers nothing here."`
	Include  []string      `yaml:"include" form:"pattern" doc:"Answer only in these repositories, as owner/name with * and ? as wildcards."`
	Exclude  []string      `yaml:"exclude" form:"pattern" doc:"Answer nothing in these repositories, as owner/name with * and ? as wildcards."`
	Ask      *AskFile      `yaml:"ask" doc:"Who may ask."`
	Read     *ReadFile     `yaml:"read" doc:"What a run may read beside the thread's own repository."`
	Share    []ShareFile   `yaml:"share" doc:"Organisation only: private repositories that may be read for threads of other repositories, by askers who can read them and name them."`
	Private  *PrivateFile  `yaml:"private" doc:"What holds for runs that may read private content."`
	Scope    *ScopeFile    `yaml:"scope" doc:"Where a question that names nothing starts to be looked into."`
	Triggers *TriggersFile `yaml:"triggers" doc:"The ways to ask. A way that is closed above stays closed."`
	Models   *ModelsFile   `yaml:"models" doc:"Which of the server's models may answer."`
	Tools    *ToolsFile    `yaml:"tools" doc:"Which tools runs have."`
	Limits   *LimitsFile   `yaml:"limits" doc:"Bounds of runs; only lower ones count."`
	Notify   *string       `yaml:"notify" enum:"comment,edit" doc:"How an answer is told: by a new comment, which notifies, or by an edit of the progress comment, which does not."`
}

// AskFile is who may ask.
type AskFile struct {
	Private *string `yaml:"private" enum:"read,triage,write,maintain,admin" doc:"The least permission to ask in private and internal repositories."`
	Public  *string `yaml:"public" enum:"none,read,triage,write,maintain,admin" doc:"The least permission to ask in public repositories."`
	Bots    []int64 `yaml:"bots" doc:"User ids of bots that may ask, of those that the server lists."`
}

// ReadFile is what a run may read.
type ReadFile struct {
	OwnOnly *bool    `yaml:"own_only" doc:"true: nothing but the thread's own repository."`
	Exclude []string `yaml:"exclude" form:"pattern" doc:"Never read these repositories, as owner/name with * and ? as wildcards."`
}

// ShareFile is one rule of sharing.
type ShareFile struct {
	From *string `yaml:"from" form:"pattern" doc:"The repositories that may be read, as owner/name with wildcards; of this organisation."`
	Into *string `yaml:"into" form:"pattern" doc:"The repositories in whose threads they may be; of this organisation."`
}

// PrivateFile is what holds for runs that may read private content.
type PrivateFile struct {
	Egress []string `yaml:"egress" doc:"Organisation only: which of the server's exceptions may be sent text that a model wrote; [] for none."`
}

// ScopeFile is where to start looking.
type ScopeFile struct {
	Repos  []string `yaml:"repos" form:"repo" max:"20" doc:"Repositories, as owner/name."`
	Owners []string `yaml:"owners" max:"20" doc:"Accounts whose repositories are looked into."`
}

// TriggersFile is which ways to ask are open.
type TriggersFile struct {
	Mention  *bool `yaml:"mention" doc:"Mentioning the App in a thread."`
	Label    *bool `yaml:"label" doc:"Putting the server's label on an issue or pull request."`
	Events   *bool `yaml:"events" doc:"The questions that the server asks when something happens."`
	Dispatch *bool `yaml:"dispatch" doc:"repository_dispatch of type librarian."`
}

// ModelsFile is which models may answer.
type ModelsFile struct {
	Default *string  `yaml:"default" doc:"The model that answers when none is named, as provider/model-id."`
	Allowed []string `yaml:"allowed" doc:"The models that may answer, of those that the server offers."`
	Private []string `yaml:"private" doc:"The models that may answer runs on private content, of those that the server offers for them."`
}

// ToolsFile is which tools runs have.
type ToolsFile struct {
	Disabled []string `yaml:"disabled" doc:"Tools that no run gets, by name; provide_results always stays."`
}

// LimitsFile bounds runs.
type LimitsFile struct {
	Steps          *int64   `yaml:"steps" min:"3" doc:"Turns that a model may take in one run."`
	Time           *string  `yaml:"time" form:"duration" min:"10" doc:"How long one run may take, as in 90s or 10m."`
	InputTokens    *int64   `yaml:"input_tokens" min:"1000" doc:"Input tokens of one run that the provider did not serve from its cache."`
	Cost           *float64 `yaml:"cost" min:"0.01" doc:"US dollars for one run, where the model's price is known."`
	UserRuns       *int64   `yaml:"user_runs" min:"1" doc:"Runs that one user may ask for in a day."`
	RepositoryRuns *int64   `yaml:"repository_runs" min:"1" doc:"Runs in one repository in a day."`
	MonthlyCost    *float64 `yaml:"monthly_cost" min:"0.01" doc:"US dollars that the installation may spend in a month."`
}
