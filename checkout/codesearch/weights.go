package codesearch

// Weights are all the numbers of the ranking. They were chosen on the two benchmark sets of `librarian bench search`, on the
// questions in testdata but the held-out ones, and on a thousand commit subjects of the same repositories (the files that a
// commit touched being its answer); a change should hold on all of them.
//
// The score of a chunk is made in this order:
//
//  1. BM25F over its fields (name, enclosing name, signature, doc comment, body): how well its own words fit;
//  2. plus two words of the question that stand side by side in it too (Adjacent), what its file as a whole has to say (Coherence),
//     what its path says (PathStem, PathDir), and what tests and prose lend to the code they name (Lend), prototypes to what they
//     declare (Declared);
//  3. times the weight of its kind of path, and less for constructors, for prototypes whose body is known (Prototype), and outside a folder that the question names;
//  4. after this first ranking once more, with the words that its best results share (Feedback);
//  5. plus boosts, in shares of the best score, for what the question names exactly: symbols, quoted text, error messages, paths,
//     lines of a stack trace (Defines, Phrase, PathNamed, PlaceNamed);
//  6. in the list, each further result of a file counts less (Saturation), the third of what is much the same too (Again); which
//     of its chunks a file shows first is decided by a rule of its own (Local…, in local.go).
//
// Tried and dropped, since they helped one set and hurt another, or nothing: the share of a name that the question speaks of (but
// within a file), less for lines without a declaration, for types and for small functions, other files in the second half of the list, a
// prior for long chunks, names that keep company with a question word in the tree, callers that lend to what they call, counting
// a file's path for its first result only, less for files called like one already shown, the subjects of the commits that touched a file,
// words of one family (walker for walk), short words of the tree that are made of a word's letters and keep it company, less for files
// that have little of the question (see testdata/README.md).
type Weights struct {
	// BM25F. K1 says how soon repetition stops to count; the B say how much length is held against a field.
	K1, BBody, BDoc                    float64
	Name, Parent, Signature, Doc, Body float64 // how many occurrences in a body one in this field is worth

	Synonym          float64 // a programming synonym of a question word, where the word itself is missing
	SynonymReverse   float64 // × a synonym that the table has the other way round
	Terse            float64 // × Synonym in a question of keywords alone
	SynonymAlone     float64 // the same for a word that the whole tree does not have
	Misspelt         float64 // a word of the tree that is but one letter away from one that it does not have (see misspelt.go)
	PhraseWord       float64 // what a whole phrase weighs (see synonyms.txt)
	Weak             float64 // an everyday word of a question (see weakWords)
	Also             float64 // a guessed identifier's words
	FileK1           float64 // K1 for whole files
	Coherence        float64 // the file's own BM25, beside the chunk's
	PathStem         float64 // per question word (times its idf) found in the file's name
	PathDir          float64 // the same for folders
	PathCover        float64 // how much of PathStem is lost when the question has next to nothing of the file's name
	PathFit          float64 // how much of all that is lost when the file has nothing else of the question's words, in a whole sentence
	Compound         float64 // two neighbouring words written as one (thread pool, threadpool), beside the words
	Part             float64 // a compound of the tree that a question word is one half of (slowlog, for slow)
	PartBoth         float64 // the same where the question has the other half too
	Defines          float64 // × the best score: the chunk defines an identifier that stands in the question …
	DefinesAlone     float64 // … or is the whole question
	DefinesQualified float64 // × Defines when what it is qualified by fits: its type, its file, its folder
	DefinesStem      float64 // × Defines when the file is called like it too
	DefinesAside     float64 // × Defines in tests, examples, docs
	DefinesAmong     float64 // × Defines in a long question: its other words say what is done with the thing, so it is not looked for itself
	Phrase           float64 // × the best score: quoted text stands in the chunk literally; of an error message .6 to 2.4 ×, by how much of it (see message.go)
	PhraseFilled     float64 // × Phrase: quoted text of an error message, which mostly is a value of the asker's own
	Option           float64 // × the best score: an option that the question names is a string of the chunk
	PathNamed        float64 // × the best score: the question names this file
	ReadmeNamed      float64 // × the best score: the question speaks of the README, and this is the one at the top
	PlaceNamed       float64 // × the best score: a stack trace names a line of this chunk
	PlaceRaised      float64 // × PlaceNamed for the innermost frame of the tree

	Adjacent         float64 // × their mean idf: two neighbouring words of the question that stand beside each other in the chunk
	AdjacentSentence float64 // × Adjacent in a whole sentence, whose words stand beside each other by its grammar
	AdjacentForm     float64 // × Adjacent when one of them has another form there (prepare statements, for prepared statements)
	AdjacentRead     int     // how many of the best chunks are read for that

	Lend    float64 // × a test's or a section's score, for the code it names
	Lenders int     // how many of the best of them lend

	Declared  float64 // × a prototype's score, for the function that it declares (see prototype.go)
	Prototype float64 // × a prototype whose function has its body elsewhere

	FeedbackDocs      int     // the best results looked at for a sentence, which is after one place …
	FeedbackDocsTerse int     // … and for keywords
	FeedbackTerms     int     // the words taken from them
	Feedback          float64 // what such a word weighs beside a question word
	FeedbackCommon    float64 // words in more than this share of the chunks are no news

	Kind        [pathKinds]float64 // by what the path is for
	Constructor float64            // functions that only make an instance

	// Among the chunks of one file: what each trait is worth (see local.go). All 0: they keep the order they have among all.
	LocalScore, LocalShare         float64 // its score: as a share of the file's best, and of the most the question could give
	LocalOwn                       float64 // the question's own words, not what stands for them
	LocalDoc, LocalText, LocalName float64 // the question's words in comment, text and name, weighed by how rare they are in the file
	LocalLines                     float64 // × ln of its lines: long functions do more of the work
	LocalExact                     float64 // what the question names exactly
	LocalPlain, LocalType          float64 // lines without a declaration; types
	LocalConstructor, LocalTest    float64 // what only makes an instance; tests
	LocalPiece                     float64 // the later parts of a long function: its name has counted already
	LocalDeclared                  float64 // prototypes whose function has its body elsewhere
	LocalDocumented                float64 // having a comment at all, which gives any words a better chance

	JoinShare float64 // neighbours this good beside the best one are shown together with it …
	JoinLines int     // … up to so many lines; 0: never

	Aside   float64 // × what lies outside the folder that the question names (tokio-util)
	NotTest float64 // × what is no test, when tests are asked for
	NotDocs float64 // × what is no documentation, when it is asked where something is documented

	Saturation      float64 // × for each earlier result of the same file, for a question in sentences: it is after one place …
	SaturationTerse float64 // … and for keywords, which look around
	Again           float64 // × for each earlier result but one that is much the same, of another file
}

// DefaultWeights is the ranking in use.
func DefaultWeights() Weights {
	w := BaseWeights()
	w.K1, w.BBody, w.BDoc, w.Name, w.Doc = 1.2, .45, .33, 3.5, 1.3
	w.Synonym, w.SynonymReverse, w.Terse, w.SynonymAlone = .75, .5, .2, .65
	w.Also, w.Weak, w.PhraseWord, w.Misspelt = .8, .7, 1, .5
	w.FileK1, w.Coherence = 10, .37
	w.PathStem, w.PathDir, w.PathCover = .9, .4, .9
	w.Lend, w.Lenders = .4, 20
	w.Compound, w.Part, w.PartBoth = .9, .3, .8
	w.PathFit = .6
	w.Adjacent, w.AdjacentSentence, w.AdjacentForm, w.AdjacentRead = .4, .4, .7, 40
	w.Defines, w.DefinesAlone, w.DefinesQualified, w.DefinesStem, w.DefinesAside, w.DefinesAmong = .5, 1, 1.5, 1.8, .3, .5
	w.Phrase, w.PhraseFilled, w.Option, w.PathNamed, w.ReadmeNamed, w.PlaceNamed, w.PlaceRaised = 1, .3, 1, .7, 1.2, 1.2, 1.5
	w.FeedbackDocs, w.FeedbackDocsTerse, w.FeedbackTerms, w.Feedback, w.FeedbackCommon = 4, 8, 16, .1, .2
	w.Declared, w.Prototype = .7, .5
	w.Constructor = .75
	w.Saturation, w.SaturationTerse, w.Again = .7, .35, .5
	w.LocalScore, w.LocalShare, w.LocalOwn, w.LocalDoc, w.LocalText, w.LocalName = 2.9, 2.2, 1.7, 1.7, 2.2, 1.2
	w.LocalLines, w.LocalExact, w.LocalPlain, w.LocalType = .9, 7, -2.3, -3.7
	w.LocalConstructor, w.LocalTest, w.LocalPiece, w.LocalDocumented = -1.5, -1.6, -1.1, -.8
	w.LocalDeclared = -2
	w.NotTest, w.NotDocs = .6, .6
	w.Aside = .5
	w.Kind[kindTooling] = .5
	w.JoinShare, w.JoinLines = .5, 60
	return w
}

// BaseWeights is the yardstick "base": BM25F over functions, with paths weighed, and nothing else.
func BaseWeights() Weights {
	w := Weights{K1: 1.2, BBody: .6, BDoc: .4, Name: 3, Parent: 1.5, Signature: 1.5, Doc: 1.5, Body: 1, FileK1: 6, Constructor: 1, NotTest: 1, NotDocs: 1, Aside: 1, Weak: 1, Prototype: 1, Saturation: 1, SaturationTerse: 1, Again: 1, FeedbackCommon: 1}
	w.Kind = [pathKinds]float64{kindSource: 1, kindTest: .35, kindDocs: .3, kindExample: .3, kindVendored: .25, kindGenerated: .3, kindConfig: .4, kindBench: .35, kindTypes: .6, kindTooling: 1}
	return w
}
