<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>ActivityDetail</name>
  <message>
   <source>&amp;Pin this prefix up to</source>
   <translation>Dieses Präfix anheften &amp;bis</translation>
  </message>
  <message>
   <source>Its text is not remembered any more. Send it again, then pin it.</source>
   <translation>Der Text ist nicht mehr bekannt. Senden Sie die Anfrage noch einmal und heften Sie sie dann an.</translation>
  </message>
  <message>
   <source>Left what is cached at token {}</source>
   <translation>Wich bei Token {} vom Cache ab</translation>
  </message>
  <message>
   <source>Nothing selected</source>
   <translation>Nichts ausgewählt</translation>
  </message>
  <message>
   <source>Select a request to see what of it was cached, and why not all.</source>
   <translation>Wählen Sie eine Anfrage, um zu sehen, was davon im Cache war und warum nicht alles.</translation>
  </message>
  <message>
   <source>answered with {} in {}</source>
   <translation>beantwortet mit {} in {}</translation>
  </message>
  <message>
   <source>cancelled by the client</source>
   <translation>vom Programm abgebrochen</translation>
  </message>
  <message>
   <source>failed: {}</source>
   <translation>fehlgeschlagen: {}</translation>
  </message>
  <message>
   <source>first word after {}</source>
   <translation>erstes Wort nach {}</translation>
  </message>
  <message>
   <source>{} more...</source>
   <translation>{} weitere...</translation>
  </message>
  <message>
   <source>{} of it waiting for others</source>
   <translation>davon {} auf andere gewartet</translation>
  </message>
  <message>
   <source>{} of prefill saved</source>
   <translation>{} Prefill gespart</translation>
  </message>
  <message>
   <source>{}, in "{}"</source>
   <translation>{}, in „{}“</translation>
  </message>
  <message>
   <source>{}: {}</source>
   <translation>{}: {}</translation>
  </message>
 </context>
 <context>
  <name>ActivityPage</name>
  <message>
   <source>&amp;Connect an agent</source>
   <translation>Agenten &amp;verbinden</translation>
  </message>
  <message>
   <source>Activity</source>
   <translation>Aktivität</translation>
  </message>
  <message>
   <source>Copy the &amp;address</source>
   <translation>A&amp;dresse kopieren</translation>
  </message>
  <message>
   <source>Height of the details</source>
   <translation>Höhe der Einzelheiten</translation>
  </message>
  <message>
   <source>No requests yet. Connect an agent, or send requests to {}.</source>
   <translation>Noch keine Anfragen. Verbinden Sie einen Agenten oder senden Sie Anfragen an {}.</translation>
  </message>
  <message>
   <source>Requests are shown while it runs.</source>
   <translation>Anfragen werden angezeigt, während er läuft.</translation>
  </message>
  <message>
   <source>What is remembered of this request cannot be shown. {}</source>
   <translation>Was von dieser Anfrage bekannt ist, kann nicht angezeigt werden. {}</translation>
  </message>
  <message>
   <source>{} requests: {} of {} prompt tokens came from the cache.</source>
   <translation>{} Anfragen: {} von {} Prompt-Token kamen aus dem Cache.</translation>
  </message>
 </context>
 <context>
  <name>AgentActions</name>
  <message>
   <source>&amp;Copy settings</source>
   <translation>Einstellungen &amp;kopieren</translation>
  </message>
  <message>
   <source>&amp;Launch in a terminal</source>
   <translation>In einem &amp;Terminal starten</translation>
  </message>
  <message>
   <source>&amp;Test</source>
   <translation>T&amp;esten</translation>
  </message>
  <message>
   <source>&amp;Undo configuration...</source>
   <translation>Konfiguration &amp;zurücknehmen...</translation>
  </message>
  <message>
   <source>&amp;Write configuration...</source>
   <translation>Konfiguration &amp;schreiben...</translation>
  </message>
  <message>
   <source>Look a&amp;gain</source>
   <translation>&amp;Noch einmal suchen</translation>
  </message>
  <message>
   <source>No model is loaded. Load one, then connect the agent.</source>
   <translation>Es ist kein Modell geladen. Laden Sie eines und verbinden Sie dann den Agenten.</translation>
  </message>
  <message>
   <source>Sends one short request, as the agent would.</source>
   <translation>Sendet eine kurze Anfrage, wie es der Agent täte.</translation>
  </message>
  <message>
   <source>The settings for {} are on the clipboard, with the key.</source>
   <translation>Die Einstellungen für {} sind in der Zwischenablage, mit dem Schlüssel.</translation>
  </message>
  <message>
   <source>Undo...</source>
   <translation>Zurücknehmen...</translation>
  </message>
  <message>
   <source>With the key: paste them where nobody else can read them.</source>
   <translation>Mit dem Schlüssel: Fügen Sie sie dort ein, wo niemand sonst sie lesen kann.</translation>
  </message>
  <message>
   <source>{} is as it was before.</source>
   <translation>{} ist wie zuvor.</translation>
  </message>
  <message>
   <source>{} starts in a terminal of its own.</source>
   <translation>{} startet in einem eigenen Terminal.</translation>
  </message>
  <message>
   <source>{} uses Pinfill from its next start.</source>
   <translation>{} verwendet Pinfill ab dem nächsten Start.</translation>
  </message>
 </context>
 <context>
  <name>AgentDetail</name>
  <message>
   <source>Answered in {}: {} cached, {} new. "{}"</source>
   <translation>Geantwortet in {}: {} aus dem Cache, {} neu. „{}“</translation>
  </message>
  <message>
   <source>Connected to the model {}, which is not loaded. Write the configuration again to use {}.</source>
   <translation>Verbunden mit dem Modell {}, das nicht geladen ist. Schreiben Sie die Konfiguration neu, um {} zu verwenden.</translation>
  </message>
  <message>
   <source>Connected to {} with the model {}.</source>
   <translation>Verbunden mit {} und dem Modell {}.</translation>
  </message>
  <message>
   <source>Connected, but its files were changed since. Write the configuration again to use Pinfill, or undo it.</source>
   <translation>Verbunden, aber die Dateien wurden seither geändert. Schreiben Sie die Konfiguration neu, um Pinfill zu verwenden, oder nehmen Sie sie zurück.</translation>
  </message>
  <message>
   <source>No model is loaded. Load one, then launch or connect the agent.</source>
   <translation>Es ist kein Modell geladen. Laden Sie eines und starten oder verbinden Sie dann den Agenten.</translation>
  </message>
  <message>
   <source>Not found on this machine. Get it: {}</source>
   <translation>Auf diesem Rechner nicht gefunden. So bekommen Sie ihn: {}</translation>
  </message>
  <message>
   <source>Settings to paste</source>
   <translation>Einstellungen zum Einfügen</translation>
  </message>
  <message>
   <source>The test failed. {}</source>
   <translation>Der Test ist fehlgeschlagen. {}</translation>
  </message>
  <message>
   <source>This agent keeps its settings to itself. Copy them, and paste them there.</source>
   <translation>Dieser Agent verwaltet seine Einstellungen selbst. Kopieren Sie sie und fügen Sie sie dort ein.</translation>
  </message>
  <message>
   <source>Waiting for an answer...</source>
   <translation>Warte auf eine Antwort...</translation>
  </message>
  <message>
   <source>{} begins with about {}, and {} takes {} in all: that leaves no room to work. Use a model with a longer context.</source>
   <translation>{} beginnt mit etwa {}, und {} fasst insgesamt {}: Da bleibt kein Platz zum Arbeiten. Verwenden Sie ein Modell mit längerem Kontext.</translation>
  </message>
 </context>
 <context>
  <name>AgentStep</name>
  <message>
   <source>&amp;All agents...</source>
   <translation>All&amp;e Agenten...</translation>
  </message>
  <message>
   <source>A coding agent that is connected asks Pinfill instead of a service far away. Its long beginning is then evaluated once, not in every conversation. You see every change before it is made, and can undo it.</source>
   <translation>Ein verbundener Coding-Agent fragt Pinfill statt eines Dienstes in der Ferne. Sein langer Anfang wird dann einmal ausgewertet, nicht in jedem Gespräch. Sie sehen jede Änderung, bevor sie geschieht, und können sie zurücknehmen.</translation>
  </message>
  <message>
   <source>An agent</source>
   <translation>Ein Agent</translation>
  </message>
  <message>
   <source>Connect {}...</source>
   <translation>{} verbinden...</translation>
  </message>
  <message>
   <source>Connected: {}.</source>
   <translation>Verbunden: {}.</translation>
  </message>
  <message>
   <source>Copy &amp;address</source>
   <translation>&amp;Adresse kopieren</translation>
  </message>
  <message>
   <source>Copy &amp;key</source>
   <translation>Schlüssel &amp;kopieren</translation>
  </message>
  <message>
   <source>Found on this machine:</source>
   <translation>Auf diesem Rechner gefunden:</translation>
  </message>
  <message>
   <source>Looking for agents...</source>
   <translation>Suche nach Agenten...</translation>
  </message>
  <message>
   <source>No agent that Pinfill knows was found. Any program that can be given an address will do: {}</source>
   <translation>Es wurde kein Agent gefunden, den Pinfill kennt. Jedes Programm, dem man eine Adresse geben kann, ist geeignet: {}</translation>
  </message>
 </context>
 <context>
  <name>AgentsMenu</name>
  <message>
   <source>Agents could not be updated</source>
   <translation>Agenten konnten nicht angepasst werden</translation>
  </message>
  <message>
   <source>Agents were updated</source>
   <translation>Agenten wurden angepasst</translation>
  </message>
  <message>
   <source>All agents...</source>
   <translation>Alle Agenten...</translation>
  </message>
  <message>
   <source>Copy settings</source>
   <translation>Einstellungen kopieren</translation>
  </message>
  <message>
   <source>Launch in terminal</source>
   <translation>Im Terminal starten</translation>
  </message>
  <message>
   <source>Their configuration has the new address of the service: {}.</source>
   <translation>In deren Konfiguration steht die neue Adresse des Dienstes: {}.</translation>
  </message>
  <message>
   <source>Undo...</source>
   <translation>Zurücknehmen...</translation>
  </message>
  <message>
   <source>Write configuration...</source>
   <translation>Konfiguration schreiben...</translation>
  </message>
  <message>
   <source>{} - connected</source>
   <translation>{} - verbunden</translation>
  </message>
  <message>
   <source>{} could not be started</source>
   <translation>{} konnte nicht gestartet werden</translation>
  </message>
  <message>
   <source>{} could not be told</source>
   <translation>Die Einstellungen für {} konnten nicht kopiert werden</translation>
  </message>
  <message>
   <source>{} still has an old address</source>
   <translation>{} hat noch eine alte Adresse</translation>
  </message>
 </context>
 <context>
  <name>AgentsPage</name>
  <message>
   <source>Agents</source>
   <translation>Agenten</translation>
  </message>
  <message>
   <source>Launch an agent on Pinfill for once, or connect it: then its own configuration says where Pinfill is.</source>
   <translation>Starten Sie einen Agenten einmal mit Pinfill oder verbinden Sie ihn: Dann steht in seiner eigenen Konfiguration, wo Pinfill ist.</translation>
  </message>
 </context>
 <context>
  <name>ApplicationSection</name>
  <message>
   <source>&amp;Language</source>
   <translation>Sp&amp;rache</translation>
  </message>
  <message>
   <source>&amp;Tell me about pins and problems</source>
   <translation>Über Pins und Probleme &amp;benachrichtigen</translation>
  </message>
  <message>
   <source>Lo&amp;g</source>
   <translation>Protoko&amp;ll</translation>
  </message>
  <message>
   <source>Pinfill shows it from its next start.</source>
   <translation>Pinfill verwendet sie ab dem nächsten Start.</translation>
  </message>
  <message>
   <source>Start with the &amp;computer</source>
   <translation>Mit dem &amp;Computer starten</translation>
  </message>
  <message>
   <source>Starting with the computer could not be changed. {}</source>
   <translation>Das Starten mit dem Computer konnte nicht geändert werden. {}</translation>
  </message>
  <message>
   <source>Th&amp;eme</source>
   <translation>&amp;Design</translation>
  </message>
  <message>
   <source>This application</source>
   <translation>Diese Anwendung</translation>
  </message>
  <message>
   <source>What the service writes into its log. Never prompts.</source>
   <translation>Was der Dienst in sein Protokoll schreibt. Niemals Prompts.</translation>
  </message>
  <message>
   <source>as the system</source>
   <translation>wie das System</translation>
  </message>
  <message>
   <source>dark</source>
   <translation>dunkel</translation>
  </message>
  <message>
   <source>errors</source>
   <translation>Fehler</translation>
  </message>
  <message>
   <source>everything</source>
   <translation>alles</translation>
  </message>
  <message>
   <source>information</source>
   <translation>Informationen</translation>
  </message>
  <message>
   <source>light</source>
   <translation>hell</translation>
  </message>
  <message>
   <source>the log</source>
   <translation>das Protokoll</translation>
  </message>
  <message>
   <source>warnings</source>
   <translation>Warnungen</translation>
  </message>
 </context>
 <context>
  <name>CachedBar</name>
  <message>
   <source>Tokens</source>
   <translation>Token</translation>
  </message>
  <message>
   <source>{} cached, {} new, of {} tokens</source>
   <translation>{} aus dem Cache, {} neu, von {} Token</translation>
  </message>
 </context>
 <context>
  <name>ChangeDialog</name>
  <message>
   <source>&amp;Undo</source>
   <translation>&amp;Zurücknehmen</translation>
  </message>
  <message>
   <source>&amp;Write</source>
   <translation>&amp;Schreiben</translation>
  </message>
  <message>
   <source>Left as it is, because it was changed since: {}</source>
   <translation>Bleibt, wie es ist, weil es seither geändert wurde: {}</translation>
  </message>
  <message>
   <source>Nothing in the files changes.</source>
   <translation>In den Dateien ändert sich nichts.</translation>
  </message>
  <message>
   <source>Undo the configuration of {}</source>
   <translation>Konfiguration von {} zurücknehmen</translation>
  </message>
  <message>
   <source>What changes</source>
   <translation>Was sich ändert</translation>
  </message>
  <message>
   <source>Write the configuration of {}</source>
   <translation>Konfiguration von {} schreiben</translation>
  </message>
  <message>
   <source>{} no longer uses Pinfill after that. What you changed yourself stays.</source>
   <translation>{} verwendet Pinfill danach nicht mehr. Was Sie selbst geändert haben, bleibt.</translation>
  </message>
  <message>
   <source>{} uses Pinfill from its next start. The rest of its files stays as it is, and this can be undone.</source>
   <translation>{} verwendet Pinfill ab dem nächsten Start. Der Rest der Dateien bleibt, wie er ist, und dies kann zurückgenommen werden.</translation>
  </message>
 </context>
 <context>
  <name>ColdWarm</name>
  <message>
   <source>{}
without what is cached: {}
with it: {}</source>
   <translation>{}
ohne Cache: {}
mit Cache: {}</translation>
  </message>
 </context>
 <context>
  <name>ColumnView</name>
  <message>
   <source>As at first</source>
   <translation>Wie am Anfang</translation>
  </message>
  <message>
   <source>Columns</source>
   <translation>Spalten</translation>
  </message>
 </context>
 <context>
  <name>Commands</name>
  <message>
   <source>The command cannot be started: {}.</source>
   <translation>Der Befehl kann nicht gestartet werden: {}.</translation>
  </message>
  <message>
   <source>The command failed and did not say why.</source>
   <translation>Der Befehl ist fehlgeschlagen und hat nicht gesagt, warum.</translation>
  </message>
 </context>
 <context>
  <name>Difference</name>
  <message>
   <source>&amp;Cached, from before</source>
   <translation>&amp;Im Cache, von vorher</translation>
  </message>
  <message>
   <source>&amp;Now</source>
   <translation>&amp;Jetzt</translation>
  </message>
  <message>
   <source>Different: {}</source>
   <translation>Verschieden: {}</translation>
  </message>
 </context>
 <context>
  <name>FirstRun</name>
  <message>
   <source>&amp;Back</source>
   <translation>&amp;Zurück</translation>
  </message>
  <message>
   <source>&amp;Finish</source>
   <translation>&amp;Fertig</translation>
  </message>
  <message>
   <source>&amp;Next</source>
   <translation>&amp;Weiter</translation>
  </message>
  <message>
   <source>&amp;Skip this step</source>
   <translation>Diesen Schritt &amp;überspringen</translation>
  </message>
  <message>
   <source>First steps with Pinfill</source>
   <translation>Erste Schritte mit Pinfill</translation>
  </message>
  <message>
   <source>Step {} of {}</source>
   <translation>Schritt {} von {}</translation>
  </message>
 </context>
 <context>
  <name>FoundLine</name>
  <message>
   <source>All models of other programs are imported.</source>
   <translation>Alle Modelle anderer Programme sind importiert.</translation>
  </message>
  <message>
   <source>Can be imported: {}.</source>
   <translation>Können importiert werden: {}.</translation>
  </message>
  <message>
   <source>Cannot be imported: {}.</source>
   <translation>Können nicht importiert werden: {}.</translation>
  </message>
  <message>
   <source>LM Studio, Ollama and Hugging Face's cache have no models on this computer.</source>
   <translation>LM Studio, Ollama und Hugging Faces Cache haben keine Modelle auf diesem Computer.</translation>
  </message>
  <message>
   <source>Look &amp;again</source>
   <translation>Erneut &amp;suchen</translation>
  </message>
  <message>
   <source>Looking for models of LM Studio, Ollama and Hugging Face's cache...</source>
   <translation>Modelle von LM Studio, Ollama und aus Hugging Faces Cache werden gesucht...</translation>
  </message>
  <message>
   <source>Looks again for models of LM Studio, Ollama and Hugging Face's cache (F5)</source>
   <translation>Sucht noch einmal nach Modellen von LM Studio, Ollama und aus Hugging Faces Cache (F5)</translation>
  </message>
 </context>
 <context>
  <name>FoundModels</name>
  <message>
   <source>Looking for models of other programs took too long. Is a folder of theirs on a slow disk?</source>
   <translation>Die Suche nach Modellen anderer Programme hat zu lange gedauert. Liegt ein Ordner von ihnen auf einer langsamen Festplatte?</translation>
  </message>
  <message>
   <source>Models of other programs could not be looked for. {}</source>
   <translation>Nach Modellen anderer Programme konnte nicht gesucht werden. {}</translation>
  </message>
  <message>
   <source>Other programs have more models on this machine than can be shown here. In a terminal, 'pinfill models found' lists them, and 'pinfill models import' takes one in.</source>
   <translation>Andere Programme haben auf diesem Rechner mehr Modelle, als hier gezeigt werden können. Im Terminal zeigt 'pinfill models found' alle, und 'pinfill models import' importiert eines.</translation>
  </message>
  <message>
   <source>The look for models of other programs gave an answer that this version does not know.</source>
   <translation>Die Suche nach Modellen anderer Programme gab eine Antwort, die diese Version nicht kennt.</translation>
  </message>
 </context>
 <context>
  <name>HelpMenu</name>
  <message>
   <source>&amp;About Pinfill</source>
   <translation>Ü&amp;ber Pinfill</translation>
  </message>
  <message>
   <source>&amp;First steps...</source>
   <translation>&amp;Erste Schritte...</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>&amp;Hilfe</translation>
  </message>
  <message>
   <source>&amp;Help pages</source>
   <translation>&amp;Hilfeseiten</translation>
  </message>
  <message>
   <source>&amp;Log</source>
   <translation>&amp;Protokoll</translation>
  </message>
  <message>
   <source>&amp;Self-test...</source>
   <translation>&amp;Selbsttest...</translation>
  </message>
  <message>
   <source>About Pinfill</source>
   <translation>Über Pinfill</translation>
  </message>
  <message>
   <source>Licence: Apache-2.0. Nothing leaves this machine unless you ask for it.</source>
   <translation>Lizenz: Apache-2.0. Nichts verlässt diesen Rechner, wenn Sie es nicht veranlassen.</translation>
  </message>
  <message>
   <source>Pinfill {} keeps long prompt prefixes warm, so that they are not prefilled again.</source>
   <translation>Pinfill {} hält lange Prompt-Präfixe warm, damit sie nicht noch einmal ausgewertet werden.</translation>
  </message>
  <message>
   <source>The help pages cannot be shown</source>
   <translation>Die Hilfeseiten können nicht gezeigt werden</translation>
  </message>
 </context>
 <context>
  <name>HelpPages</name>
  <message>
   <source>Help</source>
   <translation>Hilfe</translation>
  </message>
  <message>
   <source>Help pages</source>
   <translation>Hilfeseiten</translation>
  </message>
  <message>
   <source>Width of the list</source>
   <translation>Breite der Liste</translation>
  </message>
 </context>
 <context>
  <name>HubSection</name>
  <message>
   <source>&amp;Forget</source>
   <translation>V&amp;ergessen</translation>
  </message>
  <message>
   <source>Access token of Hugging Face</source>
   <translation>Zugangstoken von Hugging Face</translation>
  </message>
  <message>
   <source>Deletes the token from this machine. At Hugging Face it stays valid.</source>
   <translation>Löscht das Token von diesem Rechner. Bei Hugging Face bleibt es gültig.</translation>
  </message>
  <message>
   <source>Hu&amp;b token</source>
   <translation>Zugan&amp;gstoken</translation>
  </message>
  <message>
   <source>It comes from the variable HF_TOKEN, which wins over one that is saved here.</source>
   <translation>Es kommt aus der Variablen HF_TOKEN. Sie gilt vor einem, das hier gespeichert ist.</translation>
  </message>
  <message>
   <source>It is kept in the system keyring.</source>
   <translation>Es liegt im Schlüsselbund des Systems.</translation>
  </message>
  <message>
   <source>It is kept in {}, for this machine has no keyring.</source>
   <translation>Es liegt in {}, denn dieser Rechner hat keinen Schlüsselbund.</translation>
  </message>
  <message>
   <source>It is the one of “hf auth login”, in {}.</source>
   <translation>Es ist das von „hf auth login“, in {}.</translation>
  </message>
  <message>
   <source>Models that are private, or whose licence has to be accepted first, ask for a token. It is sent to Hugging Face alone, when a model is downloaded from there.</source>
   <translation>Private Modelle und solche, deren Lizenz zuerst angenommen werden muss, verlangen ein Token. Es wird nur an Hugging Face gesendet, wenn von dort ein Modell heruntergeladen wird.</translation>
  </message>
  <message>
   <source>One in the system keyring is looked for when a model is downloaded.</source>
   <translation>Ob eines im Schlüsselbund des Systems liegt, wird nachgesehen, wenn ein Modell heruntergeladen wird.</translation>
  </message>
  <message>
   <source>Sa&amp;ve</source>
   <translation>Spe&amp;ichern</translation>
  </message>
  <message>
   <source>That is no token: copy it again, as a whole and without spaces.</source>
   <translation>Das ist kein Token: noch einmal kopieren, vollständig und ohne Leerzeichen.</translation>
  </message>
  <message>
   <source>The system keyring is asked. It may want its password.</source>
   <translation>Der Schlüsselbund des Systems wird gefragt. Vielleicht verlangt er sein Kennwort.</translation>
  </message>
  <message>
   <source>The token could not be forgotten. {}</source>
   <translation>Das Token konnte nicht vergessen werden. {}</translation>
  </message>
  <message>
   <source>The token could not be saved. {}</source>
   <translation>Das Token konnte nicht gespeichert werden. {}</translation>
  </message>
  <message>
   <source>There is none.</source>
   <translation>Es gibt keines.</translation>
  </message>
  <message>
   <source>This machine has no keyring, so the token is kept in {}, which only you can read.</source>
   <translation>Dieser Rechner hat keinen Schlüsselbund, deshalb liegt das Token in {}; nur Sie können das lesen.</translation>
  </message>
 </context>
 <context>
  <name>ImportLine</name>
  <message>
   <source>&amp;Import</source>
   <translation>&amp;Importieren</translation>
  </message>
  <message>
   <source>All files (*)</source>
   <translation>Alle Dateien (*)</translation>
  </message>
  <message>
   <source>Choose a name for it, of the letters a to z and digits:</source>
   <translation>Wählen Sie einen Namen dafür, aus den Buchstaben a bis z und Ziffern:</translation>
  </message>
  <message>
   <source>GGUF models (*.gguf)</source>
   <translation>GGUF-Modelle (*.gguf)</translation>
  </message>
  <message>
   <source>Import &amp;file...</source>
   <translation>&amp;Datei importieren...</translation>
  </message>
  <message>
   <source>Import a folder with an ONNX model</source>
   <translation>Einen Ordner mit einem ONNX-Modell importieren</translation>
  </message>
  <message>
   <source>Import a model</source>
   <translation>Ein Modell importieren</translation>
  </message>
  <message>
   <source>Import f&amp;older...</source>
   <translation>&amp;Ordner importieren...</translation>
  </message>
  <message>
   <source>Importing {}</source>
   <translation>{} wird importiert</translation>
  </message>
  <message>
   <source>S&amp;top</source>
   <translation>Anhal&amp;ten</translation>
  </message>
  <message>
   <source>Stopping the import of {}</source>
   <translation>Der Import von {} wird angehalten</translation>
  </message>
  <message>
   <source>The import of {} was stopped. Nothing of it is kept.</source>
   <translation>Der Import von {} wurde angehalten. Nichts davon bleibt.</translation>
  </message>
  <message>
   <source>There is a model {} on this computer already. A name for this one:</source>
   <translation>Auf diesem Computer ist schon ein Modell {}. Ein Name für dieses:</translation>
  </message>
  <message>
   <source>{} was not imported. {}</source>
   <translation>{} wurde nicht importiert. {}</translation>
  </message>
  <message>
   <source>{}: {}</source>
   <translation>{}: {}</translation>
  </message>
 </context>
 <context>
  <name>KeySection</name>
  <message>
   <source>API key</source>
   <translation>API-Schlüssel</translation>
  </message>
  <message>
   <source>Copy &amp;key</source>
   <translation>Schlüssel &amp;kopieren</translation>
  </message>
  <message>
   <source>Programs send it with every request. It comes from PINFILL_API_KEY or settings.toml.</source>
   <translation>Programme senden ihn mit jeder Anfrage. Er kommt aus PINFILL_API_KEY oder settings.toml.</translation>
  </message>
  <message>
   <source>Programs send it with every request. It is kept in the system keyring.</source>
   <translation>Programme senden ihn mit jeder Anfrage. Er liegt im Schlüsselbund des Systems.</translation>
  </message>
  <message>
   <source>Programs send it with every request. It is made when the service first starts.</source>
   <translation>Programme senden ihn mit jeder Anfrage. Er entsteht beim ersten Start des Dienstes.</translation>
  </message>
  <message>
   <source>Programs send it with every request. This machine has no keyring, so it is kept in {}.</source>
   <translation>Programme senden ihn mit jeder Anfrage. Dieser Rechner hat keinen Schlüsselbund, deshalb liegt er in {}.</translation>
  </message>
  <message>
   <source>The service runs without a key (no_key in settings.toml): every program here may use it.</source>
   <translation>Der Dienst läuft ohne Schlüssel (no_key in settings.toml): Jedes Programm hier darf ihn verwenden.</translation>
  </message>
 </context>
 <context>
  <name>LogPage</name>
  <message>
   <source>&amp;Copy</source>
   <translation>&amp;Kopieren</translation>
  </message>
  <message>
   <source>1 line copied.</source>
   <translation>1 Zeile kopiert.</translation>
  </message>
  <message>
   <source>All lines</source>
   <translation>Alle Zeilen</translation>
  </message>
  <message>
   <source>Errors</source>
   <translation>Fehler</translation>
  </message>
  <message>
   <source>Log</source>
   <translation>Protokoll</translation>
  </message>
  <message>
   <source>No line is like that.</source>
   <translation>Keine Zeile passt dazu.</translation>
  </message>
  <message>
   <source>Open &amp;folder</source>
   <translation>&amp;Ordner öffnen</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Search the log</source>
   <translation>Protokoll durchsuchen</translation>
  </message>
  <message>
   <source>Self-&amp;test...</source>
   <translation>Selbst&amp;test...</translation>
  </message>
  <message>
   <source>Show &amp;all lines</source>
   <translation>&amp;Alle Zeilen zeigen</translation>
  </message>
  <message>
   <source>The log in {} cannot be read: {}.</source>
   <translation>Das Protokoll in {} kann nicht gelesen werden: {}.</translation>
  </message>
  <message>
   <source>The service has said nothing yet.</source>
   <translation>Der Dienst hat noch nichts gesagt.</translation>
  </message>
  <message>
   <source>The service was not started here, so its log is where it was started.</source>
   <translation>Der Dienst wurde nicht hier gestartet, deshalb ist sein Protokoll dort, wo er gestartet wurde.</translation>
  </message>
  <message>
   <source>There is no file manager to show {} with.</source>
   <translation>Es gibt keine Dateiverwaltung, um {} zu zeigen.</translation>
  </message>
  <message>
   <source>Warnings and errors</source>
   <translation>Warnungen und Fehler</translation>
  </message>
  <message>
   <source>Which lines</source>
   <translation>Welche Zeilen</translation>
  </message>
  <message>
   <source>{} lines copied.</source>
   <translation>{} Zeilen kopiert.</translation>
  </message>
 </context>
 <context>
  <name>MainWindow</name>
  <message>
   <source>Pages</source>
   <translation>Seiten</translation>
  </message>
 </context>
 <context>
  <name>MemoryBar</name>
  <message>
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>Memory for cached prefixes: {}</source>
   <translation>Speicher für Präfixe im Cache: {}</translation>
  </message>
  <message>
   <source>cached {}</source>
   <translation>im Cache {}</translation>
  </message>
  <message>
   <source>free {} of {}</source>
   <translation>frei {} von {}</translation>
  </message>
  <message>
   <source>pinned {}</source>
   <translation>angeheftet {}</translation>
  </message>
 </context>
 <context>
  <name>MemorySection</name>
  <message>
   <source>&amp;Disk for prefixes</source>
   <translation>&amp;Festplatte für Präfixe</translation>
  </message>
  <message>
   <source>&amp;Memory for prefixes</source>
   <translation>&amp;Speicher für Präfixe</translation>
  </message>
  <message>
   <source>0: pins are prefilled again after a restart.</source>
   <translation>0: Pins werden nach einem Neustart neu ausgewertet.</translation>
  </message>
  <message>
   <source>Activity then shows them after a restart too. Turned off, what was kept is deleted.</source>
   <translation>Die Aktivität zeigt sie dann auch nach einem Neustart. Wird es abgeschaltet, wird das Behaltene gelöscht.</translation>
  </message>
  <message>
   <source>Keep prefixes that are &amp;not pinned on disk too</source>
   <translation>Auch &amp;nicht angeheftete Präfixe auf der Festplatte behalten</translation>
  </message>
  <message>
   <source>Keep the texts of re&amp;quests</source>
   <translation>Die Texte der &amp;Anfragen behalten</translation>
  </message>
  <message>
   <source>Memory and disk</source>
   <translation>Speicher und Festplatte</translation>
  </message>
  <message>
   <source>They survive a restart. They hold what was said in conversations.</source>
   <translation>Sie überstehen einen Neustart. Sie enthalten, was in Gesprächen gesagt wurde.</translation>
  </message>
  <message>
   <source>{} of the {} in this machine.</source>
   <translation>{} von den {} dieses Rechners.</translation>
  </message>
  <message>
   <source>{}; {} are free.</source>
   <translation>{}; {} sind frei.</translation>
  </message>
 </context>
 <context>
  <name>ModelActions</name>
  <message>
   <source>&amp;Import</source>
   <translation>&amp;Importieren</translation>
  </message>
  <message>
   <source>&amp;Load</source>
   <translation>&amp;Laden</translation>
  </message>
  <message>
   <source>&amp;Pull</source>
   <translation>He&amp;runterladen</translation>
  </message>
  <message>
   <source>&amp;Pull again</source>
   <translation>Noch einmal he&amp;runterladen</translation>
  </message>
  <message>
   <source>&amp;Remove</source>
   <translation>&amp;Entfernen</translation>
  </message>
  <message>
   <source>&amp;Remove...</source>
   <translation>&amp;Entfernen...</translation>
  </message>
  <message>
   <source>&amp;Stop</source>
   <translation>&amp;Anhalten</translation>
  </message>
  <message>
   <source>&amp;Unload</source>
   <translation>E&amp;ntladen</translation>
  </message>
  <message>
   <source>Another one is being imported.</source>
   <translation>Es wird gerade ein anderes importiert.</translation>
  </message>
  <message>
   <source>Frees its memory; requests are refused until a model is loaded.</source>
   <translation>Gibt den Speicher frei; Anfragen werden abgelehnt, bis ein Modell geladen ist.</translation>
  </message>
  <message>
   <source>It can be pulled again.</source>
   <translation>Es kann wieder heruntergeladen werden.</translation>
  </message>
  <message>
   <source>Pulling {} was stopped. The next pull goes on where that is possible.</source>
   <translation>Das Herunterladen von {} wurde angehalten. Das nächste Mal geht es von dort weiter, soweit das möglich ist.</translation>
  </message>
  <message>
   <source>Remove {}? {} are deleted from this computer.</source>
   <translation>{} entfernen? {} werden von diesem Computer gelöscht.</translation>
  </message>
  <message>
   <source>The file or folder it was imported from stays.</source>
   <translation>Die Datei oder der Ordner, woraus es importiert wurde, bleibt.</translation>
  </message>
  <message>
   <source>Unload it first, or load another one.</source>
   <translation>Entladen Sie es zuerst oder laden Sie ein anderes.</translation>
  </message>
  <message>
   <source>{} is on this computer.</source>
   <translation>{} ist auf diesem Computer.</translation>
  </message>
 </context>
 <context>
  <name>ModelChoice</name>
  <message>
   <source>{} is loaded, but not at the next start</source>
   <translation>{} ist geladen, aber nicht beim nächsten Start</translation>
  </message>
 </context>
 <context>
  <name>ModelDetail</name>
  <message>
   <source>A prompt of all {} takes {} of the {} for prefixes.</source>
   <translation>Ein Prompt mit allen {} braucht {} von den {} für Präfixe.</translation>
  </message>
  <message>
   <source>A prompt of all {} would take {}, more than the {} for prefixes: raise that in the settings.</source>
   <translation>Ein Prompt mit allen {} bräuchte {}, mehr als die {} für Präfixe: Erhöhen Sie das in den Einstellungen.</translation>
  </message>
  <message>
   <source>Importing makes a copy for Pinfill. The original stays as it is.</source>
   <translation>Beim Importieren entsteht eine Kopie für Pinfill. Das Original bleibt, wie es ist.</translation>
  </message>
  <message>
   <source>It cannot be imported: {}</source>
   <translation>Es kann nicht importiert werden: {}</translation>
  </message>
  <message>
   <source>Nothing selected</source>
   <translation>Nichts ausgewählt</translation>
  </message>
  <message>
   <source>Select a model to see what it needs, and to load it.</source>
   <translation>Wählen Sie ein Modell, um zu sehen, was es braucht, und um es zu laden.</translation>
  </message>
  <message>
   <source>context {}</source>
   <translation>Kontext {}</translation>
  </message>
  <message>
   <source>from {}</source>
   <translation>aus {}</translation>
  </message>
  <message>
   <source>licence {}</source>
   <translation>Lizenz {}</translation>
  </message>
  <message>
   <source>{} on disk</source>
   <translation>{} auf der Festplatte</translation>
  </message>
  <message>
   <source>{} to download</source>
   <translation>{} herunterzuladen</translation>
  </message>
 </context>
 <context>
  <name>ModelImport</name>
  <message>
   <source>The import cannot be started: {}.</source>
   <translation>Der Import kann nicht gestartet werden: {}.</translation>
  </message>
  <message>
   <source>The import failed and did not say why.</source>
   <translation>Der Import ist fehlgeschlagen und hat nicht gesagt, warum.</translation>
  </message>
 </context>
 <context>
  <name>ModelSection</name>
  <message>
   <source>C&amp;ontext length</source>
   <translation>K&amp;ontextlänge</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Th&amp;reads</source>
   <translation>&amp;Threads</translation>
  </message>
  <message>
   <source>This machine has {} cores. More threads than cores make it slower.</source>
   <translation>Dieser Rechner hat {} Kerne. Mehr Threads als Kerne machen es langsamer.</translation>
  </message>
  <message>
   <source>Tokens. A shorter one needs less memory.</source>
   <translation>Token. Eine kürzere braucht weniger Speicher.</translation>
  </message>
  <message>
   <source>what the model allows</source>
   <translation>was das Modell erlaubt</translation>
  </message>
 </context>
 <context>
  <name>ModelStep</name>
  <message>
   <source>&amp;Choose one to import...</source>
   <translation>Eines &amp;importieren...</translation>
  </message>
  <message>
   <source>&amp;Fetch {}, {}</source>
   <translation>{} &amp;herunterladen, {}</translation>
  </message>
  <message>
   <source>&amp;Import a file...</source>
   <translation>Datei &amp;importieren...</translation>
  </message>
  <message>
   <source>&amp;Load {}</source>
   <translation>{} &amp;laden</translation>
  </message>
  <message>
   <source>&amp;Other models...</source>
   <translation>&amp;Andere Modelle...</translation>
  </message>
  <message>
   <source>A model</source>
   <translation>Ein Modell</translation>
  </message>
  <message>
   <source>F&amp;etch {}, {}</source>
   <translation>{} her&amp;unterladen, {}</translation>
  </message>
  <message>
   <source>Fe&amp;tch {}, {}</source>
   <translation>{} herun&amp;terladen, {}</translation>
  </message>
  <message>
   <source>Lo&amp;ad {}</source>
   <translation>{} la&amp;den</translation>
  </message>
  <message>
   <source>Loa&amp;d {}</source>
   <translation>{} lad&amp;en</translation>
  </message>
  <message>
   <source>Pinfill answers with a language model that runs on this machine. Nothing you ask leaves it.</source>
   <translation>Pinfill antwortet mit einem Sprachmodell, das auf diesem Rechner läuft. Nichts, was Sie fragen, verlässt ihn.</translation>
  </message>
  <message>
   <source>The model is being loaded...</source>
   <translation>Das Modell wird geladen...</translation>
  </message>
  <message>
   <source>There are models on this machine. Load one.</source>
   <translation>Auf diesem Rechner sind Modelle. Laden Sie eines.</translation>
  </message>
  <message>
   <source>There is no model on this machine yet. Licence of what is offered here: {}.</source>
   <translation>Auf diesem Rechner ist noch kein Modell. Lizenz der hier angebotenen: {}.</translation>
  </message>
  <message>
   <source>You have {}: importing one downloads nothing. Licence of what can be fetched: {}.</source>
   <translation>Sie haben {}: Dafür muss nichts heruntergeladen werden. Lizenz dessen, was heruntergeladen werden kann: {}.</translation>
  </message>
  <message>
   <source>not known</source>
   <translation>nicht bekannt</translation>
  </message>
  <message>
   <source>{} is being fetched: {}.</source>
   <translation>{} wird heruntergeladen: {}.</translation>
  </message>
  <message>
   <source>{} is loaded. It takes {} at once.</source>
   <translation>{} ist geladen. Es fasst {} auf einmal.</translation>
  </message>
 </context>
 <context>
  <name>ModelsPage</name>
  <message>
   <source>Asking the service.</source>
   <translation>Der Dienst wird gefragt.</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Models are shown while it runs.</source>
   <translation>Modelle werden angezeigt, während er läuft.</translation>
  </message>
  <message>
   <source>No model is loaded. Load one that is on this computer, or pull or import one first.</source>
   <translation>Es ist kein Modell geladen. Laden Sie eines von diesem Computer, oder laden Sie erst eines herunter oder importieren Sie eines.</translation>
  </message>
  <message>
   <source>{} runs on {}.</source>
   <translation>{} läuft auf {}.</translation>
  </message>
 </context>
 <context>
  <name>NetworkSection</name>
  <message>
   <source>&amp;Port</source>
   <translation>&amp;Port</translation>
  </message>
  <message>
   <source>By which others reach this machine, with commas between them. Other names are refused.</source>
   <translation>Unter denen andere diesen Rechner erreichen, mit Kommas dazwischen. Andere Namen werden abgelehnt.</translation>
  </message>
  <message>
   <source>Everyone who can reach this machine and has the key can then use the model, see what is cached, and evict it. The connection is not encrypted: whoever can listen can read the key and all prompts. Do this only in a network you trust.</source>
   <translation>Jeder, der diesen Rechner erreichen kann und den Schlüssel hat, kann dann das Modell verwenden, sehen, was im Cache ist, und es verwerfen. Die Verbindung ist nicht verschlüsselt: Wer mithören kann, kann den Schlüssel und alle Prompts lesen. Tun Sie das nur in einem Netz, dem Sie vertrauen.</translation>
  </message>
  <message>
   <source>It needs the API key: take no_key out of settings.toml first.</source>
   <translation>Dazu braucht es den API-Schlüssel: Nehmen Sie zuerst no_key aus settings.toml.</translation>
  </message>
  <message>
   <source>Let other machines &amp;use the service</source>
   <translation>Andere Rechner dürfen den Dienst &amp;verwenden</translation>
  </message>
  <message>
   <source>N&amp;ames and addresses</source>
   <translation>Namen &amp;und Adressen</translation>
  </message>
  <message>
   <source>Network</source>
   <translation>Netzwerk</translation>
  </message>
 </context>
 <context>
  <name>Notifications</name>
  <message>
   <source>It can be loaded.</source>
   <translation>Es kann geladen werden.</translation>
  </message>
  <message>
   <source>Pinfill has a problem</source>
   <translation>Pinfill hat ein Problem</translation>
  </message>
  <message>
   <source>Requests that begin with it start at once.</source>
   <translation>Anfragen, die damit beginnen, starten sofort.</translation>
  </message>
  <message>
   <source>The model</source>
   <translation>Das Modell</translation>
  </message>
  <message>
   <source>The service failed</source>
   <translation>Der Dienst ist ausgefallen</translation>
  </message>
  <message>
   <source>{} failed</source>
   <translation>{} ist fehlgeschlagen</translation>
  </message>
  <message>
   <source>{} is here</source>
   <translation>{} ist da</translation>
  </message>
  <message>
   <source>{} is stale</source>
   <translation>{} ist veraltet</translation>
  </message>
  <message>
   <source>{} is warm</source>
   <translation>{} ist warm</translation>
  </message>
  <message>
   <source>{} pins are stale</source>
   <translation>{} Pins sind veraltet</translation>
  </message>
  <message>
   <source>{} pins failed</source>
   <translation>{} Pins sind fehlgeschlagen</translation>
  </message>
  <message>
   <source>{} start at once from now on.</source>
   <translation>{} starten von jetzt an sofort.</translation>
  </message>
 </context>
 <context>
  <name>PinDialog</name>
  <message>
   <source>&amp;Name</source>
   <translation>&amp;Name</translation>
  </message>
  <message>
   <source>&amp;Pin</source>
   <translation>An&amp;heften</translation>
  </message>
  <message>
   <source>A name needs Latin letters or digits: it becomes part of a model's name.</source>
   <translation>Ein Name braucht lateinische Buchstaben oder Ziffern: Er wird Teil eines Modellnamens.</translation>
  </message>
  <message>
   <source>Give it a name: programs choose it by that.</source>
   <translation>Geben Sie ihm einen Namen: Programme wählen ihn danach aus.</translation>
  </message>
  <message>
   <source>No model is loaded. Load one, then pin.</source>
   <translation>Es ist kein Modell geladen. Laden Sie eines und heften Sie dann an.</translation>
  </message>
  <message>
   <source>There is a pin {} already. Choose another name, or unpin that one first.</source>
   <translation>Es gibt schon einen Pin {}. Wählen Sie einen anderen Namen oder lösen Sie zuerst jenen.</translation>
  </message>
  <message>
   <source>Used as the model {}</source>
   <translation>Wird verwendet als das Modell {}</translation>
  </message>
 </context>
 <context>
  <name>PinEntryDialog</name>
  <message>
   <source>Pin a cached prefix</source>
   <translation>Ein Präfix aus dem Cache anheften</translation>
  </message>
  <message>
   <source>{}, kept warm from now on:</source>
   <translation>{}, von jetzt an warm gehalten:</translation>
  </message>
 </context>
 <context>
  <name>PinFilesDialog</name>
  <message>
   <source>&amp;Add files...</source>
   <translation>Dateien hinzu&amp;fügen...</translation>
  </message>
  <message>
   <source>&amp;Files, in this order</source>
   <translation>&amp;Dateien, in dieser Reihenfolge</translation>
  </message>
  <message>
   <source>&amp;Refresh by itself when a file changes, while Pinfill runs</source>
   <translation>Von selbst &amp;auffrischen, wenn sich eine Datei ändert, solange Pinfill läuft</translation>
  </message>
  <message>
   <source>&amp;Take out</source>
   <translation>H&amp;erausnehmen</translation>
  </message>
  <message>
   <source>1 file</source>
   <translation>1 Datei</translation>
  </message>
  <message>
   <source>Add f&amp;older...</source>
   <translation>&amp;Ordner hinzufügen...</translation>
  </message>
  <message>
   <source>Add the files to pin.</source>
   <translation>Fügen Sie die Dateien hinzu, die angeheftet werden sollen.</translation>
  </message>
  <message>
   <source>Looking at the files.</source>
   <translation>Die Dateien werden angesehen.</translation>
  </message>
  <message>
   <source>Move &amp;down</source>
   <translation>Nach &amp;unten</translation>
  </message>
  <message>
   <source>Move &amp;up</source>
   <translation>Nach o&amp;ben</translation>
  </message>
  <message>
   <source>Pin files</source>
   <translation>Dateien anheften</translation>
  </message>
  <message>
   <source>There is no file with text in it.</source>
   <translation>Es ist keine Datei mit Text darin.</translation>
  </message>
  <message>
   <source>and {} more</source>
   <translation>und {} weitere</translation>
  </message>
  <message>
   <source>left out</source>
   <translation>ausgelassen</translation>
  </message>
  <message>
   <source>{} files</source>
   <translation>{} Dateien</translation>
  </message>
  <message>
   <source>{} left out: hidden, links, or no text</source>
   <translation>{} ausgelassen: versteckt, Verknüpfungen oder ohne Text</translation>
  </message>
 </context>
 <context>
  <name>PinRequestDialog</name>
  <message>
   <source>Choose where the pin ends.</source>
   <translation>Wählen Sie, wo der Pin endet.</translation>
  </message>
  <message>
   <source>Its text is not remembered any more. Send it again, then pin it.</source>
   <translation>Der Text ist nicht mehr bekannt. Senden Sie die Anfrage noch einmal und heften Sie sie dann an.</translation>
  </message>
  <message>
   <source>Pin a request</source>
   <translation>Eine Anfrage anheften</translation>
  </message>
  <message>
   <source>Pin what {} sent at {}, &amp;up to and with:</source>
   <translation>Anheften, was {} um {} gesendet hat, &amp;bis einschließlich:</translation>
  </message>
  <message>
   <source>{} - {}</source>
   <translation>{} - {}</translation>
  </message>
 </context>
 <context>
  <name>PinStep</name>
  <message>
   <source>&amp;Copy the model's name</source>
   <translation>Modellnamen &amp;kopieren</translation>
  </message>
  <message>
   <source>&amp;Pin the sample rubric</source>
   <translation>Das &amp;Beispiel anheften</translation>
  </message>
  <message>
   <source>A pin</source>
   <translation>Ein Pin</translation>
  </message>
  <message>
   <source>A pin is a text that many requests begin with: instructions, a rubric, a handbook. Pinfill evaluates it once and keeps it warm; requests that begin with it start at once.</source>
   <translation>Ein Pin ist ein Text, mit dem viele Anfragen beginnen: Anweisungen, ein Bewertungsraster, ein Handbuch. Pinfill wertet ihn einmal aus und hält ihn warm; Anfragen, die damit beginnen, starten sofort.</translation>
  </message>
  <message>
   <source>A pin is made for a model. Go back and load one first.</source>
   <translation>Ein Pin wird für ein Modell gemacht. Gehen Sie zurück und laden Sie zuerst eines.</translation>
  </message>
  <message>
   <source>Pin a &amp;document of mine...</source>
   <translation>Ein eigenes &amp;Dokument anheften...</translation>
  </message>
  <message>
   <source>Pinfill comes with a sample: a rubric for rating short essays, about 1,900 tokens.</source>
   <translation>Pinfill bringt ein Beispiel mit: ein Bewertungsraster für kurze Aufsätze, etwa 1.900 Token.</translation>
  </message>
  <message>
   <source>The rubric is being read...</source>
   <translation>Das Bewertungsraster wird gelesen...</translation>
  </message>
  <message>
   <source>{} cannot be used. {}</source>
   <translation>{} kann nicht verwendet werden. {}</translation>
  </message>
  <message>
   <source>{} is being prefilled: {}.</source>
   <translation>{} wird ausgewertet: {}.</translation>
  </message>
  <message>
   <source>{} is pinned: {} that are not evaluated again. To use it, choose this model in any program: {}</source>
   <translation>{} ist angeheftet: {}, die nicht noch einmal ausgewertet werden. Um ihn zu verwenden, wählen Sie in einem beliebigen Programm dieses Modell: {}</translation>
  </message>
 </context>
 <context>
  <name>PinTextDialog</name>
  <message>
   <source>&amp;Text, put in front of every request that uses it</source>
   <translation>&amp;Text, der vor jede Anfrage gestellt wird, die ihn verwendet</translation>
  </message>
  <message>
   <source>Paste &amp;clipboard</source>
   <translation>&amp;Zwischenablage einfügen</translation>
  </message>
  <message>
   <source>Pin text</source>
   <translation>Text anheften</translation>
  </message>
  <message>
   <source>The text is too long: at most {} characters.</source>
   <translation>Der Text ist zu lang: höchstens {} Zeichen.</translation>
  </message>
  <message>
   <source>Type or paste the text to pin.</source>
   <translation>Tippen Sie den Text ein, der angeheftet werden soll, oder fügen Sie ihn ein.</translation>
  </message>
  <message>
   <source>{} characters</source>
   <translation>{} Zeichen</translation>
  </message>
 </context>
 <context>
  <name>PinfillApplication</name>
  <message>
   <source>Open Pinfill to see where to get it.</source>
   <translation>Öffnen Sie Pinfill, um zu sehen, wo es sie gibt.</translation>
  </message>
 </context>
 <context>
  <name>Pinning</name>
  <message>
   <source>&amp;Change it...</source>
   <translation>&amp;Ändern...</translation>
  </message>
  <message>
   <source>&amp;Stop</source>
   <translation>A&amp;nhalten</translation>
  </message>
  <message>
   <source>Reading {} files for {}.</source>
   <translation>{} Dateien für {} werden gelesen.</translation>
  </message>
  <message>
   <source>Reading {} for {}.</source>
   <translation>{} für {} wird gelesen.</translation>
  </message>
  <message>
   <source>The request cannot be pinned. {}</source>
   <translation>Die Anfrage kann nicht angeheftet werden. {}</translation>
  </message>
  <message>
   <source>The text of this request is not remembered any more. Send it again, then pin it.</source>
   <translation>Der Text dieser Anfrage ist nicht mehr bekannt. Senden Sie sie noch einmal und heften Sie sie dann an.</translation>
  </message>
  <message>
   <source>{} was not pinned. {}</source>
   <translation>{} wurde nicht angeheftet. {}</translation>
  </message>
 </context>
 <context>
  <name>PrefixActions</name>
  <message>
   <source>&amp;Copy model name</source>
   <translation>Modellnamen &amp;kopieren</translation>
  </message>
  <message>
   <source>&amp;Evict</source>
   <translation>&amp;Verwerfen</translation>
  </message>
  <message>
   <source>&amp;Pin this...</source>
   <translation>Dies anhe&amp;ften...</translation>
  </message>
  <message>
   <source>&amp;Refresh</source>
   <translation>&amp;Auffrischen</translation>
  </message>
  <message>
   <source>&amp;Stop</source>
   <translation>A&amp;nhalten</translation>
  </message>
  <message>
   <source>&amp;Unpin</source>
   <translation>&amp;Lösen</translation>
  </message>
  <message>
   <source>&amp;Unpin and evict</source>
   <translation>&amp;Lösen und verwerfen</translation>
  </message>
  <message>
   <source>&amp;Verify</source>
   <translation>&amp;Prüfen</translation>
  </message>
  <message>
   <source>Re&amp;name</source>
   <translation>&amp;Umbenennen</translation>
  </message>
  <message>
   <source>Refresh by itself when a file changes</source>
   <translation>Von selbst auffrischen, wenn sich eine Datei ändert</translation>
  </message>
  <message>
   <source>Revea&amp;l</source>
   <translation>Im Ordner &amp;zeigen</translation>
  </message>
  <message>
   <source>Stops the prefill, and unpins it</source>
   <translation>Hält das Prefill an und löst den Pin</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>Rückgängig</translation>
  </message>
 </context>
 <context>
  <name>PrefixBar</name>
  <message>
   <source>&amp;Evict all that is not pinned</source>
   <translation>Alles &amp;verwerfen, was nicht angeheftet ist</translation>
  </message>
  <message>
   <source>&amp;More</source>
   <translation>&amp;Mehr</translation>
  </message>
  <message>
   <source>Pin &amp;clipboard...</source>
   <translation>&amp;Zwischenablage anheften...</translation>
  </message>
  <message>
   <source>Pin &amp;file...</source>
   <translation>&amp;Datei anheften...</translation>
  </message>
  <message>
   <source>Pin &amp;text...</source>
   <translation>&amp;Text anheften...</translation>
  </message>
  <message>
   <source>Pin a recent &amp;request</source>
   <translation>Eine der letzten &amp;Anfragen anheften</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Search prefixes</source>
   <translation>Präfixe durchsuchen</translation>
  </message>
 </context>
 <context>
  <name>PrefixDetail</name>
  <message>
   <source>&amp;Copy</source>
   <translation>&amp;Kopieren</translation>
  </message>
  <message>
   <source>(no words)</source>
   <translation>(keine Wörter)</translation>
  </message>
  <message>
   <source>NOT equal to a cold run, {}</source>
   <translation>NICHT gleich einem kalten Lauf, {}</translation>
  </message>
  <message>
   <source>Nothing selected</source>
   <translation>Nichts ausgewählt</translation>
  </message>
  <message>
   <source>Part of a pin.</source>
   <translation>Teil eines Pins.</translation>
  </message>
  <message>
   <source>Refresh by itself</source>
   <translation>Von selbst auffrischen</translation>
  </message>
  <message>
   <source>Select a prefix to see where it comes from, and what can be done with it.</source>
   <translation>Wählen Sie ein Präfix, um zu sehen, woher es kommt und was damit getan werden kann.</translation>
  </message>
  <message>
   <source>Sent by {}</source>
   <translation>Gesendet von {}</translation>
  </message>
  <message>
   <source>made for {}; Refresh makes it for the loaded model</source>
   <translation>gemacht für {}; Auffrischen macht ihn für das geladene Modell</translation>
  </message>
  <message>
   <source>not on disk: a restart prefills it again</source>
   <translation>nicht auf der Festplatte: Ein Neustart wertet ihn neu aus</translation>
  </message>
  <message>
   <source>shares {} with others</source>
   <translation>teilt {} mit anderen</translation>
  </message>
  <message>
   <source>the next request reads it from the disk</source>
   <translation>die nächste Anfrage liest ihn von der Festplatte</translation>
  </message>
  <message>
   <source>use as model: {}</source>
   <translation>als Modell verwenden: {}</translation>
  </message>
  <message>
   <source>verified equal to a cold run, {}</source>
   <translation>geprüft, gleich einem kalten Lauf, {}</translation>
  </message>
  <message>
   <source>{} files: {}</source>
   <translation>{} Dateien: {}</translation>
  </message>
  <message>
   <source>{} in memory</source>
   <translation>{} im Speicher</translation>
  </message>
  <message>
   <source>{} of prefill for each hit</source>
   <translation>{} Prefill für jeden Treffer</translation>
  </message>
  <message>
   <source>{} of prefill saved</source>
   <translation>{} Prefill gespart</translation>
  </message>
  <message>
   <source>{} on disk</source>
   <translation>{} auf der Festplatte</translation>
  </message>
  <message>
   <source>{} selected</source>
   <translation>{} ausgewählt</translation>
  </message>
 </context>
 <context>
  <name>PrefixStop</name>
  <message>
   <source>Pin &amp;again...</source>
   <translation>No&amp;ch einmal anheften...</translation>
  </message>
  <message>
   <source>Stopped: {} is not pinned. What was prefilled stays cached while there is room.</source>
   <translation>Angehalten: {} ist nicht angeheftet. Was schon ausgewertet ist, bleibt im Cache, solange Platz ist.</translation>
  </message>
  <message>
   <source>{} could not be stopped. {}</source>
   <translation>{} ließ sich nicht anhalten. {}</translation>
  </message>
 </context>
 <context>
  <name>PrefixTable</name>
  <message>
   <source>evicted soon</source>
   <translation>wird bald verworfen</translation>
  </message>
  <message>
   <source>unpinned soon</source>
   <translation>wird bald gelöst</translation>
  </message>
 </context>
 <context>
  <name>PrefixView</name>
  <message>
   <source>Prefixes</source>
   <translation>Präfixe</translation>
  </message>
 </context>
 <context>
  <name>PrefixWork</name>
  <message>
   <source>&amp;Stop</source>
   <translation>A&amp;nhalten</translation>
  </message>
  <message>
   <source>A name needs Latin letters or digits: it becomes part of a model's name.</source>
   <translation>Ein Name braucht lateinische Buchstaben oder Ziffern: Er wird Teil eines Modellnamens.</translation>
  </message>
  <message>
   <source>Comparing {} with a cold run, which takes as long as its prefill</source>
   <translation>{} wird mit einem kalten Lauf verglichen; das dauert so lange wie sein Prefill</translation>
  </message>
  <message>
   <source>Copied. Use {} as the model.</source>
   <translation>Kopiert. Verwenden Sie {} als Modell.</translation>
  </message>
  <message>
   <source>It cannot be shown</source>
   <translation>Es kann nicht gezeigt werden</translation>
  </message>
  <message>
   <source>Reading the files of {} again.</source>
   <translation>Die Dateien von {} werden noch einmal gelesen.</translation>
  </message>
  <message>
   <source>Tell the programs that use it: their model is {} now.</source>
   <translation>Teilen Sie es den Programmen mit, die ihn verwenden: Deren Modell heißt jetzt {}.</translation>
  </message>
  <message>
   <source>about {}</source>
   <translation>etwa {}</translation>
  </message>
  <message>
   <source>and {} more</source>
   <translation>und {} weitere</translation>
  </message>
  <message>
   <source>begun at {}</source>
   <translation>begonnen um {}</translation>
  </message>
  <message>
   <source>{} could not be changed</source>
   <translation>{} konnte nicht geändert werden</translation>
  </message>
  <message>
   <source>{} could not be refreshed</source>
   <translation>{} konnte nicht aufgefrischt werden</translation>
  </message>
  <message>
   <source>{} could not be renamed</source>
   <translation>{} konnte nicht umbenannt werden</translation>
  </message>
  <message>
   <source>{} could not be verified. {}</source>
   <translation>{} konnte nicht geprüft werden. {}</translation>
  </message>
  <message>
   <source>{} is NOT equal to a cold run (log probabilities differ by {}). Refresh it, and report this.</source>
   <translation>{} ist NICHT gleich einem kalten Lauf (logarithmierte Wahrscheinlichkeiten weichen um {} ab). Frischen Sie ihn auf und melden Sie das.</translation>
  </message>
  <message>
   <source>{} is called {} now.</source>
   <translation>{} heißt jetzt {}.</translation>
  </message>
  <message>
   <source>{} is equal to a cold run: {} tokens compared, first word after {} instead of {}.</source>
   <translation>{} ist gleich einem kalten Lauf: {} Token verglichen, erstes Wort nach {} statt {}.</translation>
  </message>
  <message>
   <source>{} more to go</source>
   <translation>noch {}</translation>
  </message>
 </context>
 <context>
  <name>PrefixesPage</name>
  <message>
   <source>1 file</source>
   <translation>1 Datei</translation>
  </message>
  <message>
   <source>Asking the service what it has cached.</source>
   <translation>Der Dienst wird gefragt, was in seinem Cache ist.</translation>
  </message>
  <message>
   <source>Choose a model</source>
   <translation>Ein Modell wählen</translation>
  </message>
  <message>
   <source>Clear the search</source>
   <translation>Suche löschen</translation>
  </message>
  <message>
   <source>Drop to pin this text</source>
   <translation>Loslassen, um diesen Text anzuheften</translation>
  </message>
  <message>
   <source>Drop to pin {}</source>
   <translation>Loslassen, um {} anzuheften</translation>
  </message>
  <message>
   <source>No model is loaded. Load one, then pin what is to be kept warm for it.</source>
   <translation>Es ist kein Modell geladen. Laden Sie eines und heften Sie dann an, was dafür warm bleiben soll.</translation>
  </message>
  <message>
   <source>Nothing here has all of these words: "{}".</source>
   <translation>Nichts hier enthält alle diese Wörter: „{}“.</translation>
  </message>
  <message>
   <source>Nothing pinned yet. Drop a document here, or pin the prompt of a running agent.</source>
   <translation>Noch nichts angeheftet. Ziehen Sie ein Dokument hierher oder heften Sie den Prompt eines laufenden Agenten an.</translation>
  </message>
  <message>
   <source>Pin a document...</source>
   <translation>Ein Dokument anheften...</translation>
  </message>
  <message>
   <source>Pin a prompt...</source>
   <translation>Einen Prompt anheften...</translation>
  </message>
  <message>
   <source>Prefixes</source>
   <translation>Präfixe</translation>
  </message>
  <message>
   <source>Start the service</source>
   <translation>Dienst starten</translation>
  </message>
  <message>
   <source>The service is not running ({}). Prefixes are shown while it does.</source>
   <translation>Der Dienst läuft nicht ({}). Präfixe werden angezeigt, während er läuft.</translation>
  </message>
  <message>
   <source>The service is {}. Prefixes are shown when it is ready.</source>
   <translation>Zustand des Dienstes: {}. Präfixe werden angezeigt, wenn er bereit ist.</translation>
  </message>
  <message>
   <source>{} files</source>
   <translation>{} Dateien</translation>
  </message>
 </context>
 <context>
  <name>Removals</name>
  <message>
   <source>1 prefix</source>
   <translation>1 Präfix</translation>
  </message>
  <message>
   <source>Needs {} of prefill next time.</source>
   <translation>Braucht beim nächsten Mal {} Prefill.</translation>
  </message>
  <message>
   <source>Un&amp;do</source>
   <translation>&amp;Rückgängig</translation>
  </message>
  <message>
   <source>{} of {} could not be given up. {}</source>
   <translation>{} von {} konnten nicht aufgegeben werden. {}</translation>
  </message>
  <message>
   <source>{} pinned and {} cached prefixes</source>
   <translation>{} angeheftete Präfixe und {} im Cache</translation>
  </message>
  <message>
   <source>{} pins</source>
   <translation>{} Pins</translation>
  </message>
  <message>
   <source>{} prefixes</source>
   <translation>{} Präfixe</translation>
  </message>
  <message>
   <source>{} will be evicted in {}.</source>
   <translation>{} wird in {} verworfen.</translation>
  </message>
  <message>
   <source>{} will be given up in {}. Your files stay.</source>
   <translation>{} werden in {} aufgegeben. Ihre Dateien bleiben.</translation>
  </message>
  <message>
   <source>{} will be unpinned in {}. Your files stay; what Pinfill keeps of them goes.</source>
   <translation>{} wird in {} gelöst. Ihre Dateien bleiben; was Pinfill davon behält, wird gelöscht.</translation>
  </message>
 </context>
 <context>
  <name>RuleOffer</name>
  <message>
   <source>&amp;Turn on</source>
   <translation>&amp;Einschalten</translation>
  </message>
  <message>
   <source>&amp;Why</source>
   <translation>&amp;Warum</translation>
  </message>
  <message>
   <source>The rule "{}" is on: it counts for requests from now on.</source>
   <translation>Die Regel „{}“ ist an: Sie gilt für Anfragen von jetzt an.</translation>
  </message>
  <message>
   <source>The rule "{}" was not turned on. {}</source>
   <translation>Die Regel „{}“ wurde nicht eingeschaltet. {}</translation>
  </message>
  <message>
   <source>Turn on the rule "{}"?</source>
   <translation>Die Regel „{}“ einschalten?</translation>
  </message>
 </context>
 <context>
  <name>RulesSection</name>
  <message>
   <source>Rules for stable prompts</source>
   <translation>Regeln für stabile Prompts</translation>
  </message>
  <message>
   <source>What they change in requests before they become prompts, so that less has to be prefilled.</source>
   <translation>Was sie an Anfragen ändern, bevor diese zu Prompts werden, damit weniger ausgewertet werden muss.</translation>
  </message>
 </context>
 <context>
  <name>SavingsPage</name>
  <message>
   <source>&amp;Export...</source>
   <translation>&amp;Exportieren...</translation>
  </message>
  <message>
   <source>Asking the service.</source>
   <translation>Der Dienst wird gefragt.</translation>
  </message>
  <message>
   <source>Choose another &amp;place</source>
   <translation>Anderen &amp;Ort wählen</translation>
  </message>
  <message>
   <source>Export savings</source>
   <translation>Ersparnis exportieren</translation>
  </message>
  <message>
   <source>Go to the &amp;prefixes</source>
   <translation>Zu den &amp;Präfixen</translation>
  </message>
  <message>
   <source>Last 30 days</source>
   <translation>Letzte 30 Tage</translation>
  </message>
  <message>
   <source>Last 7 days</source>
   <translation>Letzte 7 Tage</translation>
  </message>
  <message>
   <source>Nothing was asked in the last 7 days.</source>
   <translation>In den letzten 7 Tagen wurde nichts gefragt.</translation>
  </message>
  <message>
   <source>Nothing was saved yet. Pin what many prompts begin with, and send some that do.</source>
   <translation>Noch wurde nichts gespart. Heften Sie an, womit viele Prompts beginnen, und senden Sie einige davon.</translation>
  </message>
  <message>
   <source>Savings</source>
   <translation>Ersparnis</translation>
  </message>
  <message>
   <source>Savings are shown while it runs.</source>
   <translation>Die Ersparnis wird angezeigt, während er läuft.</translation>
  </message>
  <message>
   <source>Sho&amp;w</source>
   <translation>&amp;Zeigen</translation>
  </message>
  <message>
   <source>Show the last &amp;30 days</source>
   <translation>Die letzten &amp;30 Tage zeigen</translation>
  </message>
  <message>
   <source>Tables for spreadsheets (*.csv)</source>
   <translation>Tabellen für Tabellenkalkulationen (*.csv)</translation>
  </message>
  <message>
   <source>{} is written.</source>
   <translation>{} ist geschrieben.</translation>
  </message>
  <message>
   <source>{} of prefill saved this month</source>
   <translation>{} Prefill in diesem Monat gespart</translation>
  </message>
  <message>
   <source>{} of prefill saved this week</source>
   <translation>{} Prefill in dieser Woche gespart</translation>
  </message>
  <message>
   <source>{} requests; {} of {} prompt tokens came from the cache; the others took {} of prefill.</source>
   <translation>{} Anfragen; {} von {} Prompt-Token kamen aus dem Cache; die anderen brauchten {} Prefill.</translation>
  </message>
  <message>
   <source>{} was not written: {}. Choose another place.</source>
   <translation>{} wurde nicht geschrieben: {}. Wählen Sie einen anderen Ort.</translation>
  </message>
 </context>
 <context>
  <name>SavingsPlots</name>
  <message>
   <source>Prefill before the first word, mean for a request, in {}</source>
   <translation>Prefill vor dem ersten Wort, Mittel je Anfrage, in {}</translation>
  </message>
  <message>
   <source>Prefill saved by day and pin</source>
   <translation>Gesparter Prefill nach Tag und Pin</translation>
  </message>
  <message>
   <source>Prefill saved by day, in {}</source>
   <translation>Gesparter Prefill nach Tag, in {}</translation>
  </message>
  <message>
   <source>Prefill with and without what is cached, by pin</source>
   <translation>Prefill mit und ohne Cache, nach Pin</translation>
  </message>
  <message>
   <source>cached</source>
   <translation>im Cache</translation>
  </message>
  <message>
   <source>not cached</source>
   <translation>nicht im Cache</translation>
  </message>
  <message>
   <source>others</source>
   <translation>andere</translation>
  </message>
 </context>
 <context>
  <name>SelfTest</name>
  <message>
   <source>It ended without a word.</source>
   <translation>Er endete ohne ein Wort.</translation>
  </message>
 </context>
 <context>
  <name>SelfTestDialog</name>
  <message>
   <source>&amp;Copy report</source>
   <translation>Bericht &amp;kopieren</translation>
  </message>
  <message>
   <source>All is well: the answer from the cache is the same, first word after {} instead of {}.</source>
   <translation>Alles ist gut: Die Antwort aus dem Cache ist dieselbe, erstes Wort nach {} statt {}.</translation>
  </message>
  <message>
   <source>Answers come, but nothing was cached. Please report this, with the text below.</source>
   <translation>Antworten kommen, aber nichts war im Cache. Bitte melden Sie das mit dem Text unten.</translation>
  </message>
  <message>
   <source>Looks at the machine, loads the model, and asks it the same thing twice...</source>
   <translation>Sieht sich den Rechner an, lädt das Modell und fragt es zweimal dasselbe...</translation>
  </message>
  <message>
   <source>No answer came, so nothing could be compared.</source>
   <translation>Es kam keine Antwort, deshalb konnte nichts verglichen werden.</translation>
  </message>
  <message>
   <source>Report</source>
   <translation>Bericht</translation>
  </message>
  <message>
   <source>Self-test</source>
   <translation>Selbsttest</translation>
  </message>
  <message>
   <source>The answer from the cache is another one. Please report this, with the text below.</source>
   <translation>Die Antwort aus dem Cache ist eine andere. Bitte melden Sie das mit dem Text unten.</translation>
  </message>
  <message>
   <source>The self-test failed. {}</source>
   <translation>Der Selbsttest ist fehlgeschlagen. {}</translation>
  </message>
 </context>
 <context>
  <name>SettingsPage</name>
  <message>
   <source>&amp;Restart service</source>
   <translation>Dienst &amp;neu starten</translation>
  </message>
  <message>
   <source>Changed, and counts from the service's next start: {}. A restart ends requests under way.</source>
   <translation>Geändert, gilt ab dem nächsten Start des Dienstes: {}. Ein Neustart beendet laufende Anfragen.</translation>
  </message>
  <message>
   <source>Self-test...</source>
   <translation>Selbsttest...</translation>
  </message>
  <message>
   <source>Set by the variable {}, which wins over what is chosen here.</source>
   <translation>Von der Variablen {} gesetzt, die Vorrang vor der Wahl hier hat.</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>The settings cannot be read, so they are not shown. Mend settings.toml: {}</source>
   <translation>Die Einstellungen können nicht gelesen werden und werden deshalb nicht angezeigt. Berichtigen Sie settings.toml: {}</translation>
  </message>
  <message>
   <source>context length</source>
   <translation>Kontextlänge</translation>
  </message>
  <message>
   <source>network</source>
   <translation>Netzwerk</translation>
  </message>
  <message>
   <source>port</source>
   <translation>Port</translation>
  </message>
  <message>
   <source>threads</source>
   <translation>Threads</translation>
  </message>
 </context>
 <context>
  <name>SourceWatching</name>
  <message>
   <source>The files of pins cannot be watched</source>
   <translation>Die Dateien von Pins können nicht beobachtet werden</translation>
  </message>
  <message>
   <source>{}. A pin whose file has changed is refreshed only when you ask for it.</source>
   <translation>{}. Ein Pin, dessen Datei sich geändert hat, wird nur aufgefrischt, wenn Sie es verlangen.</translation>
  </message>
 </context>
 <context>
  <name>StatusLine</name>
  <message>
   <source>Memory for cached prefixes</source>
   <translation>Speicher für Präfixe im Cache</translation>
  </message>
  <message>
   <source>no model is loaded</source>
   <translation>kein Modell geladen</translation>
  </message>
  <message>
   <source>{} of {}</source>
   <translation>{} von {}</translation>
  </message>
 </context>
 <context>
  <name>Step</name>
  <message>
   <source>&amp;Start the service</source>
   <translation>Dienst &amp;starten</translation>
  </message>
  <message>
   <source>The service is not running ({}). {}</source>
   <translation>Der Dienst läuft nicht ({}). {}</translation>
  </message>
  <message>
   <source>The service is {}.</source>
   <translation>Zustand des Dienstes: {}.</translation>
  </message>
 </context>
 <context>
  <name>Supervisor</name>
  <message>
   <source>It did not answer {} times in a row.</source>
   <translation>Er hat {}-mal hintereinander nicht geantwortet.</translation>
  </message>
  <message>
   <source>It was not ready after {}.</source>
   <translation>Er war nach {} nicht bereit.</translation>
  </message>
  <message>
   <source>No port from {} on is free. Set another one in settings.toml.</source>
   <translation>Ab {} ist kein Port frei. Setzen Sie in settings.toml einen anderen.</translation>
  </message>
  <message>
   <source>The service at {} hangs. {} Restart it.</source>
   <translation>Der Dienst auf {} hängt. {} Starten Sie ihn neu.</translation>
  </message>
  <message>
   <source>The service cannot be started: {}.</source>
   <translation>Der Dienst kann nicht gestartet werden: {}.</translation>
  </message>
  <message>
   <source>The service ended {} times in a row.</source>
   <translation>Der Dienst endete {}-mal hintereinander.</translation>
  </message>
  <message>
   <source>The service has ended. It was not started by this window.</source>
   <translation>Der Dienst hat sich beendet. Er wurde nicht von diesem Fenster gestartet.</translation>
  </message>
  <message>
   <source>{} cannot be used: {}.</source>
   <translation>{} kann nicht verwendet werden: {}.</translation>
  </message>
 </context>
 <context>
  <name>Tray</name>
  <message>
   <source>1 pin warm</source>
   <translation>1 Pin warm</translation>
  </message>
  <message>
   <source>no model is loaded</source>
   <translation>kein Modell geladen</translation>
  </message>
  <message>
   <source>{} pins warm</source>
   <translation>{} Pins warm</translation>
  </message>
  <message>
   <source>{} saved today</source>
   <translation>heute {} gespart</translation>
  </message>
 </context>
 <context>
  <name>TrayActions</name>
  <message>
   <source>Copied</source>
   <translation>Kopiert</translation>
  </message>
  <message>
   <source>Equal to a cold run: {} tokens compared, {} instead of {}.</source>
   <translation>Gleich einem kalten Lauf: {} Token verglichen, {} statt {}.</translation>
  </message>
  <message>
   <source>Evict</source>
   <translation>Verwerfen</translation>
  </message>
  <message>
   <source>Evict {} unpinned prefixes, {}? Needs up to {} of prefill when they are asked for again.</source>
   <translation>{} nicht angeheftete Präfixe verwerfen, {}? Braucht bis zu {} Prefill, wenn sie wieder gebraucht werden.</translation>
  </message>
  <message>
   <source>It differs from a cold run by {}. Refresh it, and report this.</source>
   <translation>Er weicht um {} von einem kalten Lauf ab. Frischen Sie ihn auf und melden Sie das.</translation>
  </message>
  <message>
   <source>Needs {} of prefill to get it back.</source>
   <translation>Braucht {} Prefill, um ihn zurückzubekommen.</translation>
  </message>
  <message>
   <source>Nothing could be evicted</source>
   <translation>Nichts konnte verworfen werden</translation>
  </message>
  <message>
   <source>Programs reach the service at {}.</source>
   <translation>Programme erreichen den Dienst unter {}.</translation>
  </message>
  <message>
   <source>Starting with the computer could not be changed</source>
   <translation>Das Starten mit dem Computer konnte nicht geändert werden</translation>
  </message>
  <message>
   <source>The key is on the clipboard.</source>
   <translation>Der Schlüssel ist in der Zwischenablage.</translation>
  </message>
  <message>
   <source>Unpin</source>
   <translation>Lösen</translation>
  </message>
  <message>
   <source>Unpin {}?</source>
   <translation>{} lösen?</translation>
  </message>
  <message>
   <source>Use {} as the model.</source>
   <translation>Verwenden Sie {} als Modell.</translation>
  </message>
  <message>
   <source>{} could not be loaded</source>
   <translation>{} konnte nicht geladen werden</translation>
  </message>
  <message>
   <source>{} could not be refreshed</source>
   <translation>{} konnte nicht aufgefrischt werden</translation>
  </message>
  <message>
   <source>{} could not be unpinned</source>
   <translation>{} konnte nicht gelöst werden</translation>
  </message>
  <message>
   <source>{} could not be verified</source>
   <translation>{} konnte nicht geprüft werden</translation>
  </message>
  <message>
   <source>{} is not equal to a cold run</source>
   <translation>{} ist nicht gleich einem kalten Lauf</translation>
  </message>
  <message>
   <source>{} is verified</source>
   <translation>{} ist geprüft</translation>
  </message>
 </context>
 <context>
  <name>TrayMenu</name>
  <message>
   <source>Connect agent</source>
   <translation>Agenten verbinden</translation>
  </message>
  <message>
   <source>Copy endpoint</source>
   <translation>Adresse kopieren</translation>
  </message>
  <message>
   <source>Copy key</source>
   <translation>Schlüssel kopieren</translation>
  </message>
  <message>
   <source>Copy what is to be pinned first.</source>
   <translation>Kopieren Sie zuerst, was angeheftet werden soll.</translation>
  </message>
  <message>
   <source>Evict unpinned...</source>
   <translation>Nicht Angeheftetes verwerfen...</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>No model is loaded</source>
   <translation>Es ist kein Modell geladen</translation>
  </message>
  <message>
   <source>Nothing pinned yet</source>
   <translation>Noch nichts angeheftet</translation>
  </message>
  <message>
   <source>Open Pinfill</source>
   <translation>Pinfill öffnen</translation>
  </message>
  <message>
   <source>Other models...</source>
   <translation>Andere Modelle...</translation>
  </message>
  <message>
   <source>Pin clipboard...</source>
   <translation>Zwischenablage anheften...</translation>
  </message>
  <message>
   <source>Pin file...</source>
   <translation>Datei anheften...</translation>
  </message>
  <message>
   <source>Pin last request</source>
   <translation>Letzte Anfrage anheften</translation>
  </message>
  <message>
   <source>Pinfill {} is out...</source>
   <translation>Pinfill {} ist erschienen...</translation>
  </message>
  <message>
   <source>Quit</source>
   <translation>Beenden</translation>
  </message>
  <message>
   <source>Quit (the service keeps running)</source>
   <translation>Beenden (der Dienst läuft weiter)</translation>
  </message>
  <message>
   <source>Refresh</source>
   <translation>Auffrischen</translation>
  </message>
  <message>
   <source>Restart service</source>
   <translation>Dienst neu starten</translation>
  </message>
  <message>
   <source>Start service</source>
   <translation>Dienst starten</translation>
  </message>
  <message>
   <source>Start with the computer</source>
   <translation>Mit dem Computer starten</translation>
  </message>
  <message>
   <source>Stop prefilling</source>
   <translation>Prefill anhalten</translation>
  </message>
  <message>
   <source>Stop reading its files</source>
   <translation>Lesen der Dateien anhalten</translation>
  </message>
  <message>
   <source>The clipboard holds no text</source>
   <translation>Die Zwischenablage enthält keinen Text</translation>
  </message>
  <message>
   <source>Unpin...</source>
   <translation>Lösen...</translation>
  </message>
  <message>
   <source>Use (copy model name)</source>
   <translation>Verwenden (Modellnamen kopieren)</translation>
  </message>
  <message>
   <source>Verify</source>
   <translation>Prüfen</translation>
  </message>
  <message>
   <source>{} more...</source>
   <translation>{} weitere...</translation>
  </message>
  <message>
   <source>{} saved today</source>
   <translation>heute {} gespart</translation>
  </message>
 </context>
 <context>
  <name>Updates</name>
  <message>
   <source>Open {} in a browser.</source>
   <translation>Öffnen Sie {} in einem Browser.</translation>
  </message>
  <message>
   <source>The download page cannot be opened</source>
   <translation>Die Download-Seite kann nicht geöffnet werden</translation>
  </message>
 </context>
 <context>
  <name>UpdatesRow</name>
  <message>
   <source>&amp;Say when a newer version is out</source>
   <translation>Auf eine neuere Version hin&amp;weisen</translation>
  </message>
  <message>
   <source>Asking {}...</source>
   <translation>{} wird gefragt...</translation>
  </message>
  <message>
   <source>Check no&amp;w</source>
   <translation>&amp;Jetzt nachfragen</translation>
  </message>
  <message>
   <source>Off, nobody is asked unless you click. On, {} is asked once a day which release is the latest. It sees the address of this machine and "{}", nothing else. Nothing is downloaded or installed.</source>
   <translation>Aus: niemand wird gefragt, außer Sie klicken. Ein: {} wird einmal am Tag nach der neuesten Version gefragt und sieht die Adresse dieses Rechners und „{}“, sonst nichts. Nichts wird heruntergeladen oder installiert.</translation>
  </message>
 </context>
 <context>
  <name>WindowNotices</name>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Open the download page</source>
   <translation>Download-Seite öffnen</translation>
  </message>
  <message>
   <source>Port {} is used by {}. Pinfill now listens on {}.</source>
   <translation>Port {} wird von {} verwendet. Pinfill ist jetzt auf {} erreichbar.</translation>
  </message>
  <message>
   <source>Restart service</source>
   <translation>Dienst neu starten</translation>
  </message>
  <message>
   <source>Skip this version</source>
   <translation>Diese Version überspringen</translation>
  </message>
  <message>
   <source>Start service</source>
   <translation>Dienst starten</translation>
  </message>
  <message>
   <source>The running service is Pinfill {}</source>
   <translation>Der laufende Dienst ist Pinfill {}</translation>
  </message>
  <message>
   <source>The running service is another version of Pinfill</source>
   <translation>Der laufende Dienst ist eine andere Version von Pinfill</translation>
  </message>
  <message>
   <source>The service failed. {}</source>
   <translation>Der Dienst ist ausgefallen. {}</translation>
  </message>
  <message>
   <source>The service is started again. {}</source>
   <translation>Der Dienst wird wieder gestartet. {}</translation>
  </message>
  <message>
   <source>The service that systemd should run did not start, so Pinfill runs one itself. See why: {}</source>
   <translation>Der Dienst, den systemd ausführen soll, ist nicht gestartet, daher führt Pinfill selbst einen aus. Der Grund steht in: {}</translation>
  </message>
  <message>
   <source>This desktop has no tray. Pinfill runs while this window is open; closing it quits.</source>
   <translation>Dieser Desktop hat keinen Infobereich. Pinfill läuft, solange dieses Fenster offen ist; wird es geschlossen, endet Pinfill.</translation>
  </message>
  <message>
   <source>This is {}; what you pinned and set stays.</source>
   <translation>Dies ist {}; was Sie angeheftet und eingestellt haben, bleibt.</translation>
  </message>
  <message>
   <source>This machine has no keyring, so the API key is kept in {}, which only you can read.</source>
   <translation>Dieser Rechner hat keinen Schlüsselbund, deshalb liegt der API-Schlüssel in {}; nur Sie können das lesen.</translation>
  </message>
  <message>
   <source>another program</source>
   <translation>einem anderen Programm</translation>
  </message>
  <message>
   <source>another program ({})</source>
   <translation>einem anderen Programm ({})</translation>
  </message>
  <message>
   <source>{} is not on this machine yet. Get it, or import a model.</source>
   <translation>{} ist noch nicht auf diesem Rechner. Holen Sie es, oder importieren Sie ein Modell.</translation>
  </message>
  <message>
   <source>{}, this window is {}. Restart the service to have both the same.</source>
   <translation>{}, dieses Fenster ist {}. Starten Sie den Dienst neu, damit beide gleich sind.</translation>
  </message>
 </context>
 <context>
  <name>_Line</name>
  <message>
   <source>Close this notice</source>
   <translation>Diesen Hinweis schließen</translation>
  </message>
 </context>
 <context>
  <name>activity</name>
  <message>
   <source>And the pin, behind @</source>
   <translation>Und der Pin, hinter @</translation>
  </message>
  <message>
   <source>Cached</source>
   <translation>Im Cache</translation>
  </message>
  <message>
   <source>Client</source>
   <translation>Programm</translation>
  </message>
  <message>
   <source>First word</source>
   <translation>Erstes Wort</translation>
  </message>
  <message>
   <source>How long it took to the first word of the answer</source>
   <translation>Wie lange es bis zum ersten Wort der Antwort dauerte</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>New</source>
   <translation>Neu</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>Zeit</translation>
  </message>
  <message>
   <source>Why</source>
   <translation>Warum</translation>
  </message>
  <message>
   <source>Why not all of it was cached</source>
   <translation>Warum nicht alles davon im Cache war</translation>
  </message>
  <message>
   <source>answering</source>
   <translation>antwortet</translation>
  </message>
  <message>
   <source>cancelled</source>
   <translation>abgebrochen</translation>
  </message>
  <message>
   <source>failed: {}</source>
   <translation>fehlgeschlagen: {}</translation>
  </message>
  <message>
   <source>left what is cached at token {}</source>
   <translation>wich bei Token {} vom Cache ab</translation>
  </message>
  <message>
   <source>now</source>
   <translation>jetzt</translation>
  </message>
  <message>
   <source>running</source>
   <translation>läuft</translation>
  </message>
  <message>
   <source>stalled</source>
   <translation>stockt</translation>
  </message>
  <message>
   <source>{} cached, {} new, of {} tokens</source>
   <translation>{} aus dem Cache, {} neu, von {} Token</translation>
  </message>
 </context>
 <context>
  <name>agents</name>
  <message>
   <source>Agent</source>
   <translation>Agent</translation>
  </message>
  <message>
   <source>Configuration</source>
   <translation>Konfiguration</translation>
  </message>
  <message>
   <source>Get it: {}</source>
   <translation>So bekommen Sie ihn: {}</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>On this machine</source>
   <translation>Auf diesem Rechner</translation>
  </message>
  <message>
   <source>cannot be read</source>
   <translation>nicht lesbar</translation>
  </message>
  <message>
   <source>changed since</source>
   <translation>seither geändert</translation>
  </message>
  <message>
   <source>connected</source>
   <translation>verbunden</translation>
  </message>
  <message>
   <source>found</source>
   <translation>gefunden</translation>
  </message>
  <message>
   <source>not connected</source>
   <translation>nicht verbunden</translation>
  </message>
  <message>
   <source>not found</source>
   <translation>nicht gefunden</translation>
  </message>
  <message>
   <source>to be pasted by hand</source>
   <translation>von Hand einzufügen</translation>
  </message>
 </context>
 <context>
  <name>autostart</name>
  <message>
   <source>The registry cannot be changed: {}.</source>
   <translation>Die Registrierung kann nicht geändert werden: {}.</translation>
  </message>
  <message>
   <source>{} cannot be deleted: {}.</source>
   <translation>{} kann nicht gelöscht werden: {}.</translation>
  </message>
  <message>
   <source>{} cannot be written: {}.</source>
   <translation>{} kann nicht geschrieben werden: {}.</translation>
  </message>
 </context>
 <context>
  <name>failures</name>
  <message>
   <source>A file could not be read as text. Choose another one.</source>
   <translation>Eine Datei konnte nicht als Text gelesen werden. Wählen Sie eine andere.</translation>
  </message>
  <message>
   <source>A file is damaged. Save it again in its program, or choose another one.</source>
   <translation>Eine Datei ist beschädigt. Speichern Sie sie in ihrem Programm noch einmal oder wählen Sie eine andere.</translation>
  </message>
  <message>
   <source>A file is gone, or may not be read. Put it back, or choose another one.</source>
   <translation>Eine Datei ist weg oder darf nicht gelesen werden. Legen Sie sie zurück oder wählen Sie eine andere.</translation>
  </message>
  <message>
   <source>A file is of a kind that is not read. Text, source code, HTML, PDF and DOCX are.</source>
   <translation>Eine Datei ist von einer Art, die nicht gelesen wird. Gelesen werden Text, Quellcode, HTML, PDF und DOCX.</translation>
  </message>
  <message>
   <source>A file is too large, or takes too long. Choose a smaller one, or a part of it.</source>
   <translation>Eine Datei ist zu groß oder braucht zu lange. Wählen Sie eine kleinere oder einen Teil davon.</translation>
  </message>
  <message>
   <source>A file needs a password. Save a copy without one, and choose that.</source>
   <translation>Eine Datei braucht ein Kennwort. Speichern Sie eine Kopie ohne Kennwort und wählen Sie diese.</translation>
  </message>
  <message>
   <source>A file with a prefix was damaged. It was set aside, and is prefilled again.</source>
   <translation>Eine Datei mit einem Präfix war beschädigt. Sie wurde beiseitegelegt, und das Präfix wird neu ausgewertet.</translation>
  </message>
  <message>
   <source>A model is in use, or being loaded. Wait for that, then try again.</source>
   <translation>Ein Modell ist in Gebrauch oder wird geladen. Warten Sie, bis das beendet ist, und versuchen Sie es dann noch einmal.</translation>
  </message>
  <message>
   <source>A newer Pinfill wrote Pinfill's folder. Install that version again.</source>
   <translation>Ein neueres Pinfill hat den Ordner von Pinfill geschrieben. Installieren Sie jene Version wieder.</translation>
  </message>
  <message>
   <source>A setting is not valid. Correct settings.toml, then start the service.</source>
   <translation>Eine Einstellung ist ungültig. Berichtigen Sie settings.toml und starten Sie dann den Dienst.</translation>
  </message>
  <message>
   <source>An older version of Pinfill converted this model. Make it again.</source>
   <translation>Eine ältere Version von Pinfill hat dieses Modell umgewandelt. Erstellen Sie es neu.</translation>
  </message>
  <message>
   <source>Another Pinfill works on Pinfill's folder. Use that one, or end it first.</source>
   <translation>Ein anderes Pinfill arbeitet mit dem Ordner von Pinfill. Verwenden Sie jenes oder beenden Sie es zuerst.</translation>
  </message>
  <message>
   <source>Answers cannot be held to this schema. Simplify it.</source>
   <translation>Antworten können nicht an dieses Schema gebunden werden. Vereinfachen Sie es.</translation>
  </message>
  <message>
   <source>Files of this installation are missing. Install Pinfill again.</source>
   <translation>Dateien dieser Installation fehlen. Installieren Sie Pinfill noch einmal.</translation>
  </message>
  <message>
   <source>It can be used, but it is not on disk: after a restart it is prefilled again.</source>
   <translation>Er kann verwendet werden, liegt aber nicht auf der Festplatte: Nach einem Neustart wird er neu ausgewertet.</translation>
  </message>
  <message>
   <source>It could not be prefilled, so it cannot be used. Refresh it, or pin it again.</source>
   <translation>Er konnte nicht ausgewertet werden und ist deshalb nicht verwendbar. Frischen Sie ihn auf oder heften Sie ihn noch einmal an.</translation>
  </message>
  <message>
   <source>It is not what its files hold, was made for another model, or is read otherwise now. Refresh it.</source>
   <translation>Er entspricht nicht mehr seinen Dateien, wurde für ein anderes Modell gemacht oder wird jetzt anders gelesen. Frischen Sie ihn auf.</translation>
  </message>
  <message>
   <source>Memory is short, so less is cached until there is more. Close other programs.</source>
   <translation>Der Speicher ist knapp, deshalb kommt weniger in den Cache, bis wieder mehr frei ist. Schließen Sie andere Programme.</translation>
  </message>
  <message>
   <source>Memory is too short for that. Close other programs, or choose a smaller model.</source>
   <translation>Dafür reicht der Speicher nicht. Schließen Sie andere Programme oder wählen Sie ein kleineres Modell.</translation>
  </message>
  <message>
   <source>No answer came. Look into the log, and report it with the text below.</source>
   <translation>Es kam keine Antwort. Sehen Sie ins Protokoll und melden Sie es mit dem Text unten.</translation>
  </message>
  <message>
   <source>No model is loaded. Load one on the Models page.</source>
   <translation>Es ist kein Modell geladen. Laden Sie eines auf der Seite „Modelle“.</translation>
  </message>
  <message>
   <source>Not all of it is there, so it is prefilled again by itself.</source>
   <translation>Er ist nicht vollständig da und wird deshalb von selbst neu ausgewertet.</translation>
  </message>
  <message>
   <source>Nothing else here can run it, or the settings ask for that.</source>
   <translation>Nichts anderes hier kann es ausführen, oder die Einstellungen verlangen es so.</translation>
  </message>
  <message>
   <source>Nothing of the second request came from the cache. Please report this.</source>
   <translation>Von der zweiten Anfrage kam nichts aus dem Cache. Bitte melden Sie das.</translation>
  </message>
  <message>
   <source>Other machines may use the service only with a key. Take no_key out of settings.toml.</source>
   <translation>Andere Rechner dürfen den Dienst nur mit einem Schlüssel verwenden. Nehmen Sie no_key aus settings.toml.</translation>
  </message>
  <message>
   <source>Prefixes cannot be kept on disk. Look whether it is full, or may not be written to.</source>
   <translation>Präfixe können nicht auf der Festplatte behalten werden. Sehen Sie nach, ob sie voll oder schreibgeschützt ist.</translation>
  </message>
  <message>
   <source>Something is wrong with this model. Choose another one, or fetch it again.</source>
   <translation>Mit diesem Modell stimmt etwas nicht. Wählen Sie ein anderes oder laden Sie es noch einmal herunter.</translation>
  </message>
  <message>
   <source>Something unforeseen happened in the service. Look into the log, and report it.</source>
   <translation>Im Dienst ist etwas Unvorhergesehenes geschehen. Sehen Sie ins Protokoll und melden Sie es.</translation>
  </message>
  <message>
   <source>That cannot be done with this agent. Look at its settings, or connect it by hand.</source>
   <translation>Das geht mit diesem Agenten nicht. Sehen Sie sich seine Einstellungen an oder verbinden Sie ihn von Hand.</translation>
  </message>
  <message>
   <source>That cannot be done with this pin.</source>
   <translation>Das geht mit diesem Pin nicht.</translation>
  </message>
  <message>
   <source>That is more than the service takes at once. Shorten it, or pin less.</source>
   <translation>Das ist mehr, als der Dienst auf einmal annimmt. Kürzen Sie es oder heften Sie weniger an.</translation>
  </message>
  <message>
   <source>That is not yet verified on hardware.</source>
   <translation>Das ist noch nicht auf echter Hardware geprüft.</translation>
  </message>
  <message>
   <source>That is too long for the model's context. Shorten it, or load a model with a longer context.</source>
   <translation>Das ist zu lang für den Kontext des Modells. Kürzen Sie es oder laden Sie ein Modell mit längerem Kontext.</translation>
  </message>
  <message>
   <source>The NPU has no driver. Install the one of its vendor.</source>
   <translation>Die NPU hat keinen Treiber. Installieren Sie den ihres Herstellers.</translation>
  </message>
  <message>
   <source>The answer could not be held to its form. Simplify the schema, or ask again.</source>
   <translation>Die Antwort konnte nicht in ihrer Form gehalten werden. Vereinfachen Sie das Schema oder fragen Sie noch einmal.</translation>
  </message>
  <message>
   <source>The answer from the cache differs from that of a cold run. Please report this.</source>
   <translation>Die Antwort aus dem Cache ist eine andere als ohne Cache. Bitte melden Sie das.</translation>
  </message>
  <message>
   <source>The disk is full. Free some space, then try again.</source>
   <translation>Die Festplatte ist voll. Schaffen Sie Platz und versuchen Sie es dann noch einmal.</translation>
  </message>
  <message>
   <source>The download failed. Look whether the network works, then pull again: it goes on.</source>
   <translation>Das Herunterladen ist fehlgeschlagen. Sehen Sie nach, ob das Netz funktioniert, und laden Sie noch einmal herunter: Es geht dort weiter.</translation>
  </message>
  <message>
   <source>The file with pins and requests has a problem. Look whether the disk is full or damaged.</source>
   <translation>Mit der Datei der Pins und Anfragen stimmt etwas nicht. Sehen Sie nach, ob die Festplatte voll oder beschädigt ist.</translation>
  </message>
  <message>
   <source>The import answered what this version does not understand. Install Pinfill again.</source>
   <translation>Der Import hat geantwortet, was diese Version nicht versteht. Installieren Sie Pinfill noch einmal.</translation>
  </message>
  <message>
   <source>The keyring cannot be used. Unlock it, or set PINFILL_API_KEY.</source>
   <translation>Der Schlüsselbund kann nicht verwendet werden. Entsperren Sie ihn oder setzen Sie PINFILL_API_KEY.</translation>
  </message>
  <message>
   <source>The model cannot be read. Fetch or import it again, or choose another one.</source>
   <translation>Das Modell kann nicht gelesen werden. Laden Sie es noch einmal herunter, importieren Sie es neu oder wählen Sie ein anderes.</translation>
  </message>
  <message>
   <source>The model cannot run where the settings want it. Choose the provider auto or cpu.</source>
   <translation>Das Modell kann nicht dort laufen, wo die Einstellungen es verlangen. Wählen Sie den Provider auto oder cpu.</translation>
  </message>
  <message>
   <source>The model could not be fetched. Pull it again; if it fails again, look into the log.</source>
   <translation>Das Modell konnte nicht geholt werden. Laden Sie es noch einmal herunter; wenn es wieder fehlschlägt, sehen Sie ins Protokoll.</translation>
  </message>
  <message>
   <source>The model could not be loaded; one that was loaded before goes on. Close other programs if memory is short, or choose another model.</source>
   <translation>Das Modell konnte nicht geladen werden; ein vorher geladenes läuft weiter. Schließen Sie andere Programme, wenn der Speicher knapp ist, oder wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <source>The model could not finish its work. Try again; if it happens again, look into the log.</source>
   <translation>Das Modell konnte seine Arbeit nicht beenden. Versuchen Sie es noch einmal; wenn es wieder geschieht, sehen Sie ins Protokoll.</translation>
  </message>
  <message>
   <source>The model's chat template does not take these messages. Use another model.</source>
   <translation>Die Chat-Vorlage des Modells nimmt diese Nachrichten nicht an. Verwenden Sie ein anderes Modell.</translation>
  </message>
  <message>
   <source>The onnxruntime library is missing or too old. Install Pinfill again.</source>
   <translation>Die Bibliothek onnxruntime fehlt oder ist zu alt. Installieren Sie Pinfill noch einmal.</translation>
  </message>
  <message>
   <source>The pin is not ready for that. Wait until it is warm, and until a model is loaded.</source>
   <translation>Der Pin ist dafür nicht bereit. Warten Sie, bis er warm ist und ein Modell geladen ist.</translation>
  </message>
  <message>
   <source>The service at {} does not answer. Is it running?</source>
   <translation>Der Dienst auf {} antwortet nicht. Läuft er?</translation>
  </message>
  <message>
   <source>The service at {} took too long. Try again, or restart it.</source>
   <translation>Der Dienst auf {} hat zu lange gebraucht. Versuchen Sie es noch einmal oder starten Sie ihn neu.</translation>
  </message>
  <message>
   <source>The service at {} wants another key than Pinfill has. Restart it from Pinfill's menu.</source>
   <translation>Der Dienst auf {} verlangt einen anderen Schlüssel, als Pinfill hat. Starten Sie ihn über das Menü von Pinfill neu.</translation>
  </message>
  <message>
   <source>The service cannot do what the request asks for. Leave that out.</source>
   <translation>Der Dienst kann nicht, was die Anfrage verlangt. Lassen Sie das weg.</translation>
  </message>
  <message>
   <source>The service cannot use what was entered. Correct it, and try again.</source>
   <translation>Der Dienst kann die Eingabe nicht verwenden. Berichtigen Sie sie und versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <source>The service could not read the request. Restart the service, so that both fit.</source>
   <translation>Der Dienst konnte die Anfrage nicht lesen. Starten Sie ihn neu, damit beide zusammenpassen.</translation>
  </message>
  <message>
   <source>The service does not answer. Start it, then try again.</source>
   <translation>Der Dienst antwortet nicht. Starten Sie ihn und versuchen Sie es dann noch einmal.</translation>
  </message>
  <message>
   <source>The service is shutting down or changes its model. Try again in a moment.</source>
   <translation>Der Dienst wird beendet oder wechselt sein Modell. Versuchen Sie es gleich noch einmal.</translation>
  </message>
  <message>
   <source>The service reads text only. Leave out pictures and other files.</source>
   <translation>Der Dienst liest nur Text. Lassen Sie Bilder und andere Dateien weg.</translation>
  </message>
  <message>
   <source>The service refuses requests from web pages.</source>
   <translation>Der Dienst lehnt Anfragen von Webseiten ab.</translation>
  </message>
  <message>
   <source>The service refuses this address. Add it to the names in the settings.</source>
   <translation>Der Dienst lehnt diese Adresse ab. Fügen Sie sie in den Einstellungen zu den Namen hinzu.</translation>
  </message>
  <message>
   <source>The service wants another key than Pinfill has. Restart it from Pinfill's menu.</source>
   <translation>Der Dienst verlangt einen anderen Schlüssel, als Pinfill hat. Starten Sie ihn über das Menü von Pinfill neu.</translation>
  </message>
  <message>
   <source>The settings could not be written, so nothing changed. Look at settings.toml.</source>
   <translation>Die Einstellungen konnten nicht geschrieben werden, deshalb hat sich nichts geändert. Sehen Sie sich settings.toml an.</translation>
  </message>
  <message>
   <source>The system did not allow it. Look at the file or address that is named here.</source>
   <translation>Das System hat es nicht zugelassen. Sehen Sie sich die hier genannte Datei oder Adresse an.</translation>
  </message>
  <message>
   <source>There is a pin of this name already. Choose another name, or unpin that one first.</source>
   <translation>Es gibt schon einen Pin mit diesem Namen. Wählen Sie einen anderen Namen oder lösen Sie zuerst jenen.</translation>
  </message>
  <message>
   <source>There is another model of this name already. Remove it, or import under another name.</source>
   <translation>Es gibt schon ein anderes Modell mit diesem Namen. Entfernen Sie es oder importieren Sie unter einem anderen Namen.</translation>
  </message>
  <message>
   <source>There is no model of this name. Look at the Models page for those there are.</source>
   <translation>Es gibt kein Modell mit diesem Namen. Die vorhandenen stehen auf der Seite „Modelle“.</translation>
  </message>
  <message>
   <source>There is no pin of this name. It may have been unpinned or renamed.</source>
   <translation>Es gibt keinen Pin mit diesem Namen. Vielleicht wurde er gelöst oder umbenannt.</translation>
  </message>
  <message>
   <source>There is no room for this pin. Unpin something, or give prefixes more room in the settings.</source>
   <translation>Für diesen Pin ist kein Platz. Lösen Sie etwas oder geben Sie Präfixen in den Einstellungen mehr Platz.</translation>
  </message>
  <message>
   <source>There is no text in it. Choose a file whose text can be selected and copied.</source>
   <translation>Darin ist kein Text. Wählen Sie eine Datei, deren Text sich markieren und kopieren lässt.</translation>
  </message>
  <message>
   <source>This cannot be a model's name. Rename the file or folder, and import it again.</source>
   <translation>Das kann kein Modellname sein. Benennen Sie die Datei oder den Ordner um und importieren Sie noch einmal.</translation>
  </message>
  <message>
   <source>This cannot be a name. Use letters from a to z, digits, dots and dashes.</source>
   <translation>Das kann kein Name sein. Verwenden Sie Buchstaben von a bis z, Ziffern, Punkte und Bindestriche.</translation>
  </message>
  <message>
   <source>This cannot be pinned, or not be used like that. Pin another text, or refresh the pin.</source>
   <translation>Das kann nicht angeheftet oder nicht so verwendet werden. Heften Sie einen anderen Text an oder frischen Sie den Pin auf.</translation>
  </message>
  <message>
   <source>This is no model that Pinfill can use. Choose a GGUF file or an ONNX model.</source>
   <translation>Das ist kein Modell, das Pinfill verwenden kann. Wählen Sie eine GGUF-Datei oder ein ONNX-Modell.</translation>
  </message>
  <message>
   <source>This model is loaded. Unload it first, or load another one.</source>
   <translation>Dieses Modell ist geladen. Entladen Sie es zuerst oder laden Sie ein anderes.</translation>
  </message>
  <message>
   <source>This prefix is not cached any more.</source>
   <translation>Dieses Präfix ist nicht mehr im Cache.</translation>
  </message>
  <message>
   <source>This prefix is pinned or in use, so it stays. Unpin it first, or wait.</source>
   <translation>Dieses Präfix ist angeheftet oder in Gebrauch, deshalb bleibt es. Lösen Sie es zuerst oder warten Sie.</translation>
  </message>
  <message>
   <source>This request is not remembered any more. Send it again.</source>
   <translation>Diese Anfrage ist nicht mehr bekannt. Senden Sie sie noch einmal.</translation>
  </message>
  <message>
   <source>This service keeps no pins: it runs for one command only.</source>
   <translation>Dieser Dienst behält keine Pins: Er läuft nur für einen Befehl.</translation>
  </message>
  <message>
   <source>This service was started for one model only. Restart it from Pinfill to change that.</source>
   <translation>Dieser Dienst wurde nur für ein Modell gestartet. Starten Sie ihn aus Pinfill neu, um das zu ändern.</translation>
  </message>
  <message>
   <source>Too many requests wait already. Try again in a moment.</source>
   <translation>Es warten schon zu viele Anfragen. Versuchen Sie es gleich noch einmal.</translation>
  </message>
  <message>
   <source>What answers at {} is not Pinfill, or another version of it. Restart the service.</source>
   <translation>Was auf {} antwortet, ist nicht Pinfill oder eine andere Version davon. Starten Sie den Dienst neu.</translation>
  </message>
  <message>
   <source>What this machine has could not be found out. Look into the log, and report it.</source>
   <translation>Was dieser Rechner hat, ließ sich nicht feststellen. Sehen Sie ins Protokoll und melden Sie es.</translation>
  </message>
  <message>
   <source>What was kept of requests could not be deleted. Restart the service, and try again.</source>
   <translation>Was von Anfragen behalten wurde, konnte nicht gelöscht werden. Starten Sie den Dienst neu und versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <source>You may not use the NPU. Become a member of the group that its device belongs to.</source>
   <translation>Sie dürfen die NPU nicht verwenden. Werden Sie Mitglied der Gruppe, der ihr Gerät gehört.</translation>
  </message>
  <message>
   <source>cannot be read</source>
   <translation>lässt sich nicht lesen</translation>
  </message>
  <message>
   <source>is a link</source>
   <translation>ist eine Verknüpfung</translation>
  </message>
  <message>
   <source>is hidden</source>
   <translation>ist versteckt</translation>
  </message>
  <message>
   <source>is of a kind that is not read</source>
   <translation>ist von einer Art, die nicht gelesen wird</translation>
  </message>
  <message>
   <source>is too large</source>
   <translation>ist zu groß</translation>
  </message>
  <message>
   <source>was there before</source>
   <translation>kam schon vor</translation>
  </message>
  <message>
   <source>{} Details: {}</source>
   <translation>{} Details: {}</translation>
  </message>
 </context>
 <context>
  <name>findings</name>
  <message>
   <source>A date or time differs.</source>
   <translation>Ein Datum oder eine Uhrzeit ist anders.</translation>
  </message>
  <message>
   <source>A header or version string differs.</source>
   <translation>Eine Kopfzeile oder Versionsangabe ist anders.</translation>
  </message>
  <message>
   <source>Add messages at the end: everything behind one that is put in is evaluated again.</source>
   <translation>Fügen Sie Nachrichten am Ende hinzu: Alles hinter einer eingefügten wird noch einmal ausgewertet.</translation>
  </message>
  <message>
   <source>Add to the end of a conversation instead of changing it, or use a model without such state.</source>
   <translation>Ergänzen Sie ein Gespräch am Ende, statt es zu ändern, oder verwenden Sie ein Modell ohne solchen Zustand.</translation>
  </message>
  <message>
   <source>All of the prompt that can be reused came from the cache.</source>
   <translation>Alles vom Prompt, was wiederverwendet werden kann, kam aus dem Cache.</translation>
  </message>
  <message>
   <source>An identifier differs.</source>
   <translation>Eine Kennung ist anders.</translation>
  </message>
  <message>
   <source>Another model, or a longer prompt, may be reusable.</source>
   <translation>Ein anderes Modell oder ein längerer Prompt ist vielleicht wiederverwendbar.</translation>
  </message>
  <message>
   <source>Ask for log probabilities of the prompt, or echo it, only where they are needed.</source>
   <translation>Verlangen Sie logarithmierte Wahrscheinlichkeiten des Prompts oder seine Wiedergabe nur, wo sie gebraucht werden.</translation>
  </message>
  <message>
   <source>Claude Code's header is left out where that rule is on (pinfill rules on claude-billing-header); turn another one off in the client, or move it to the end of the prompt.</source>
   <translation>Die Kopfzeile von Claude Code wird weggelassen, wo diese Regel an ist (pinfill rules on claude-billing-header); schalten Sie eine andere im Programm ab oder verschieben Sie sie ans Ende des Prompts.</translation>
  </message>
  <message>
   <source>Everything before is the same; the last message is another one.</source>
   <translation>Alles davor ist gleich; die letzte Nachricht ist eine andere.</translation>
  </message>
  <message>
   <source>It had been cached and was evicted, because room was needed.</source>
   <translation>Es war im Cache und wurde verworfen, weil Platz gebraucht wurde.</translation>
  </message>
  <message>
   <source>It had been evaluated before, and is not cached any more.</source>
   <translation>Es wurde schon einmal ausgewertet und ist nicht mehr im Cache.</translation>
  </message>
  <message>
   <source>It is cached for another chat template.</source>
   <translation>Es ist für eine andere Chat-Vorlage im Cache.</translation>
  </message>
  <message>
   <source>It is cached for another model or for other settings.</source>
   <translation>Es ist für ein anderes Modell oder andere Einstellungen im Cache.</translation>
  </message>
  <message>
   <source>JSON has its keys in another order and is otherwise the same.</source>
   <translation>JSON hat seine Schlüssel in anderer Reihenfolge und ist sonst gleich.</translation>
  </message>
  <message>
   <source>JSON is written differently (spacing, escapes) and is otherwise the same.</source>
   <translation>JSON ist anders geschrieben (Abstände, Escapes) und sonst gleich.</translation>
  </message>
  <message>
   <source>Keep the same tools for a whole conversation; those added later belong at its end.</source>
   <translation>Behalten Sie für ein ganzes Gespräch dieselben Werkzeuge; später hinzugefügte gehören an sein Ende.</translation>
  </message>
  <message>
   <source>Keep what changes at the end of the prompt: everything behind a change is evaluated again.</source>
   <translation>Halten Sie, was sich ändert, am Ende des Prompts: Alles hinter einer Änderung wird noch einmal ausgewertet.</translation>
  </message>
  <message>
   <source>Leave out `cache_prompt: false`, or set it to true, to let the request use the cache.</source>
   <translation>Lassen Sie `cache_prompt: false` weg oder setzen Sie es auf true, damit die Anfrage den Cache verwendet.</translation>
  </message>
  <message>
   <source>Leave the identifier out of the prompt, or move it to the last message.</source>
   <translation>Lassen Sie die Kennung im Prompt weg oder verschieben Sie sie in die letzte Nachricht.</translation>
  </message>
  <message>
   <source>Let the client always write JSON with the same spacing and escapes.</source>
   <translation>Lassen Sie das Programm JSON immer mit denselben Abständen und Escapes schreiben.</translation>
  </message>
  <message>
   <source>Let the client send its tools in a fixed order, or let a rule sort them by name (pinfill rules on tools-by-name).</source>
   <translation>Lassen Sie das Programm seine Werkzeuge in fester Reihenfolge senden oder eine Regel sie nach Namen sortieren (pinfill rules on tools-by-name).</translation>
  </message>
  <message>
   <source>Let the client send reasoning back, or turn it off; many templates leave out that of earlier answers, and only the answers behind it are evaluated again.</source>
   <translation>Lassen Sie das Programm die Überlegungen zurücksenden oder schalten Sie diese ab; viele Vorlagen lassen die früherer Antworten weg, und nur die Antworten dahinter werden noch einmal ausgewertet.</translation>
  </message>
  <message>
   <source>Let the client send the text back exactly as it was, with its spaces and line breaks.</source>
   <translation>Lassen Sie das Programm den Text genau so zurücksenden, wie er war, mit Leerzeichen und Zeilenumbrüchen.</translation>
  </message>
  <message>
   <source>Let the client write JSON with sorted keys.</source>
   <translation>Lassen Sie das Programm JSON mit sortierten Schlüsseln schreiben.</translation>
  </message>
  <message>
   <source>Messages were left out.</source>
   <translation>Nachrichten wurden weggelassen.</translation>
  </message>
  <message>
   <source>Messages were put in.</source>
   <translation>Nachrichten wurden eingefügt.</translation>
  </message>
  <message>
   <source>Move the date or time to the last message, or leave it out; the dates of Claude Code and opencode are moved by a rule (pinfill rules on dates-behind-tools).</source>
   <translation>Verschieben Sie Datum oder Uhrzeit in die letzte Nachricht oder lassen Sie sie weg; die von Claude Code und opencode verschiebt eine Regel (pinfill rules on dates-behind-tools).</translation>
  </message>
  <message>
   <source>Nothing that is cached begins like this prompt.</source>
   <translation>Nichts im Cache beginnt wie dieser Prompt.</translation>
  </message>
  <message>
   <source>Only white space differs.</source>
   <translation>Nur Leerraum ist anders.</translation>
  </message>
  <message>
   <source>Pin this prefix to keep it, also while other prompts need room.</source>
   <translation>Heften Sie dieses Präfix an, um es zu behalten, auch wenn andere Prompts Platz brauchen.</translation>
  </message>
  <message>
   <source>Pin this prefix to keep it, or raise the memory budget.</source>
   <translation>Heften Sie dieses Präfix an, um es zu behalten, oder erhöhen Sie das Speicherbudget.</translation>
  </message>
  <message>
   <source>Pin what many prompts begin with, so that even the first of them finds it.</source>
   <translation>Heften Sie an, womit viele Prompts beginnen, damit schon der erste davon es findet.</translation>
  </message>
  <message>
   <source>Reasoning that the earlier prompt had is left out now.</source>
   <translation>Überlegungen, die der frühere Prompt enthielt, fehlen jetzt.</translation>
  </message>
  <message>
   <source>Remove messages rarely and many at once: everything behind them is evaluated again.</source>
   <translation>Entfernen Sie Nachrichten selten und viele auf einmal: Alles dahinter wird noch einmal ausgewertet.</translation>
  </message>
  <message>
   <source>Send the prompt once more: from now on it can be compared.</source>
   <translation>Senden Sie den Prompt noch einmal: Von jetzt an kann er verglichen werden.</translation>
  </message>
  <message>
   <source>The prompt goes on where an earlier one ended; only what is new is evaluated.</source>
   <translation>Der Prompt geht dort weiter, wo ein früherer endete; nur das Neue wird ausgewertet.</translation>
  </message>
  <message>
   <source>The prompt is the same as an earlier one.</source>
   <translation>Der Prompt ist derselbe wie ein früherer.</translation>
  </message>
  <message>
   <source>The prompt was evaluated again; look into the service's log if it happens more than once.</source>
   <translation>Der Prompt wurde noch einmal ausgewertet; sehen Sie ins Protokoll des Dienstes, wenn es öfter geschieht.</translation>
  </message>
  <message>
   <source>The request asks for log probabilities of the prompt, for which all of it is evaluated.</source>
   <translation>Die Anfrage verlangt logarithmierte Wahrscheinlichkeiten des Prompts; dafür wird er ganz ausgewertet.</translation>
  </message>
  <message>
   <source>The request turned the cache off.</source>
   <translation>Die Anfrage hat den Cache abgeschaltet.</translation>
  </message>
  <message>
   <source>The text differs.</source>
   <translation>Der Text ist anders.</translation>
  </message>
  <message>
   <source>The text is the same, but it was made of other tokens.</source>
   <translation>Der Text ist gleich, bestand aber aus anderen Token.</translation>
  </message>
  <message>
   <source>The tools are the same, but in another order.</source>
   <translation>Die Werkzeuge sind dieselben, aber in anderer Reihenfolge.</translation>
  </message>
  <message>
   <source>The tools differ.</source>
   <translation>Die Werkzeuge sind andere.</translation>
  </message>
  <message>
   <source>There is nothing to do.</source>
   <translation>Es ist nichts zu tun.</translation>
  </message>
  <message>
   <source>There is nothing to do: the text is the same, and only the reply is evaluated again.</source>
   <translation>Es ist nichts zu tun: Der Text ist gleich, und nur die Antwort wird noch einmal ausgewertet.</translation>
  </message>
  <message>
   <source>This model can go on at some places only, and the prompt left between two of them.</source>
   <translation>Dieses Modell kann nur an bestimmten Stellen weitermachen, und der Prompt wich zwischen zweien davon ab.</translation>
  </message>
  <message>
   <source>Use the same chat template, with the same options, for prompts that should share what is cached.</source>
   <translation>Verwenden Sie für Prompts, die sich den Cache teilen sollen, dieselbe Chat-Vorlage mit denselben Optionen.</translation>
  </message>
  <message>
   <source>Use the same model, adapter and cache salt for prompts that should share what is cached.</source>
   <translation>Verwenden Sie für Prompts, die sich den Cache teilen sollen, dasselbe Modell, denselben Adapter und denselben Cache-Salt.</translation>
  </message>
  <message>
   <source>What followed there in the cache is not remembered, so nothing can be compared.</source>
   <translation>Was dort im Cache folgte, ist nicht mehr bekannt, deshalb kann nichts verglichen werden.</translation>
  </message>
  <message>
   <source>What is cached cannot be reused for this prompt.</source>
   <translation>Was im Cache ist, kann für diesen Prompt nicht wiederverwendet werden.</translation>
  </message>
  <message>
   <source>What was cached could not be read.</source>
   <translation>Was im Cache war, konnte nicht gelesen werden.</translation>
  </message>
 </context>
 <context>
  <name>models</name>
  <message>
   <source>Close other programs, or choose a smaller model.</source>
   <translation>Schließen Sie andere Programme oder wählen Sie ein kleineres Modell.</translation>
  </message>
  <message>
   <source>Context</source>
   <translation>Kontext</translation>
  </message>
  <message>
   <source>How much it takes while it is loaded, of what is free on this computer</source>
   <translation>Wie viel es geladen von dem braucht, was auf diesem Computer frei ist</translation>
  </message>
  <message>
   <source>Hugging Face's cache</source>
   <translation>Hugging Faces Cache</translation>
  </message>
  <message>
   <source>In memory</source>
   <translation>Im Speicher</translation>
  </message>
  <message>
   <source>It does not fit into memory: it needs up to {}, and {} are free. {}</source>
   <translation>Es passt nicht in den Speicher: Es braucht bis zu {}, und {} sind frei. {}</translation>
  </message>
  <message>
   <source>It fits into memory: it needs up to {}, and {} are free.</source>
   <translation>Es passt in den Speicher: Es braucht bis zu {}, und {} sind frei.</translation>
  </message>
  <message>
   <source>It is in memory: up to {}.</source>
   <translation>Es ist im Speicher: bis zu {}.</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>Lizenz</translation>
  </message>
  <message>
   <source>Memory is tight: it needs up to {}, prefixes may take {} more, and {} are free. Close other programs, or give prefixes less in the settings.</source>
   <translation>Der Speicher ist knapp: Es braucht bis zu {}, Präfixe können noch {} brauchen, und {} sind frei. Schließen Sie andere Programme oder geben Sie Präfixen in den Einstellungen weniger.</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <source>State</source>
   <translation>Zustand</translation>
  </message>
  <message>
   <source>The longest prompt, in tokens</source>
   <translation>Der längste Prompt, in Token</translation>
  </message>
  <message>
   <source>can be pulled</source>
   <translation>kann heruntergeladen werden</translation>
  </message>
  <message>
   <source>checking</source>
   <translation>wird geprüft</translation>
  </message>
  <message>
   <source>converting</source>
   <translation>wird umgewandelt</translation>
  </message>
  <message>
   <source>copying</source>
   <translation>wird kopiert</translation>
  </message>
  <message>
   <source>downloading</source>
   <translation>wird heruntergeladen</translation>
  </message>
  <message>
   <source>fits</source>
   <translation>passt</translation>
  </message>
  <message>
   <source>importing</source>
   <translation>wird importiert</translation>
  </message>
  <message>
   <source>in {}</source>
   <translation>in {}</translation>
  </message>
  <message>
   <source>its name is no text. Rename the file or its folder.</source>
   <translation>sein Name ist kein Text. Benennen Sie die Datei oder ihren Ordner um.</translation>
  </message>
  <message>
   <source>loaded</source>
   <translation>geladen</translation>
  </message>
  <message>
   <source>loading</source>
   <translation>wird geladen</translation>
  </message>
  <message>
   <source>made by an older Pinfill</source>
   <translation>von einem älteren Pinfill gemacht</translation>
  </message>
  <message>
   <source>on this computer</source>
   <translation>auf diesem Computer</translation>
  </message>
  <message>
   <source>pulling</source>
   <translation>wird heruntergeladen</translation>
  </message>
  <message>
   <source>stopping</source>
   <translation>wird angehalten</translation>
  </message>
  <message>
   <source>tight</source>
   <translation>knapp</translation>
  </message>
  <message>
   <source>too large</source>
   <translation>zu groß</translation>
  </message>
  <message>
   <source>unpacking</source>
   <translation>wird entpackt</translation>
  </message>
  <message>
   <source>waiting for another program that works on it</source>
   <translation>wartet auf ein anderes Programm, das daran arbeitet</translation>
  </message>
  <message>
   <source>waiting until running requests have ended</source>
   <translation>wartet, bis laufende Anfragen beendet sind</translation>
  </message>
  <message>
   <source>{} model in {}</source>
   <translation>{} Modell in {}</translation>
  </message>
  <message>
   <source>{} models in {}</source>
   <translation>{} Modelle in {}</translation>
  </message>
  <message>
   <source>{} {}</source>
   <translation>{} {}</translation>
  </message>
  <message>
   <source>{} {} of {}</source>
   <translation>{} {} von {}</translation>
  </message>
  <message>
   <source>{}, cannot be imported</source>
   <translation>{}, kann nicht importiert werden</translation>
  </message>
  <message>
   <source>{}, up to {} of {}</source>
   <translation>{}, bis zu {} von {}</translation>
  </message>
 </context>
 <context>
  <name>no service</name>
  <message>
   <source>&amp;Start the service</source>
   <translation>Dienst &amp;starten</translation>
  </message>
  <message>
   <source>Asking the service.</source>
   <translation>Der Dienst wird gefragt.</translation>
  </message>
  <message>
   <source>The service is not running ({}). {}</source>
   <translation>Der Dienst läuft nicht ({}). {}</translation>
  </message>
  <message>
   <source>The service is {}. {}</source>
   <translation>Zustand des Dienstes: {}. {}</translation>
  </message>
 </context>
 <context>
  <name>prefixes</name>
  <message>
   <source>(no words)</source>
   <translation>(keine Wörter)</translation>
  </message>
  <message>
   <source>Hits</source>
   <translation>Treffer</translation>
  </message>
  <message>
   <source>How long ago a request began with it</source>
   <translation>Vor wie langer Zeit eine Anfrage damit begann</translation>
  </message>
  <message>
   <source>Last</source>
   <translation>Zuletzt</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Prefill saved by the last request</source>
   <translation>Prefill, den die letzte Anfrage gespart hat</translation>
  </message>
  <message>
   <source>Prefill saved in all; for what is not pinned: hits times what one saves</source>
   <translation>Insgesamt gesparter Prefill; bei nicht Angeheftetem: Treffer mal Ersparnis eines Treffers</translation>
  </message>
  <message>
   <source>Prefill saved today</source>
   <translation>Heute gesparter Prefill</translation>
  </message>
  <message>
   <source>Requests that began with it</source>
   <translation>Anfragen, die damit begannen</translation>
  </message>
  <message>
   <source>Saved today</source>
   <translation>Heute gespart</translation>
  </message>
  <message>
   <source>Shared</source>
   <translation>Geteilt</translation>
  </message>
  <message>
   <source>Source</source>
   <translation>Quelle</translation>
  </message>
  <message>
   <source>State</source>
   <translation>Zustand</translation>
  </message>
  <message>
   <source>The files it was pinned from, or the program that sent it</source>
   <translation>Die Dateien, aus denen er angeheftet wurde, oder das Programm, das ihn sendete</translation>
  </message>
  <message>
   <source>Tokens</source>
   <translation>Token</translation>
  </message>
  <message>
   <source>Tokens that others begin with, too</source>
   <translation>Token, mit denen auch andere beginnen</translation>
  </message>
  <message>
   <source>Total</source>
   <translation>Gesamt</translation>
  </message>
  <message>
   <source>Used</source>
   <translation>Benutzt</translation>
  </message>
  <message>
   <source>What is shared with others counts for each of them.</source>
   <translation>Was mit anderen geteilt wird, zählt bei jedem.</translation>
  </message>
  <message>
   <source>cached</source>
   <translation>im Cache</translation>
  </message>
  <message>
   <source>conversation</source>
   <translation>Gespräch</translation>
  </message>
  <message>
   <source>in use</source>
   <translation>in Gebrauch</translation>
  </message>
  <message>
   <source>on disk</source>
   <translation>auf der Festplatte</translation>
  </message>
  <message>
   <source>plain text</source>
   <translation>reiner Text</translation>
  </message>
  <message>
   <source>text</source>
   <translation>Text</translation>
  </message>
  <message>
   <source>{} s</source>
   <translation>{} s</translation>
  </message>
  <message>
   <source>{}, finishing</source>
   <translation>{}, wird abgeschlossen</translation>
  </message>
  <message>
   <source>{}, stalled</source>
   <translation>{}, stockt</translation>
  </message>
  <message>
   <source>{}, {} left</source>
   <translation>{}, noch {}</translation>
  </message>
 </context>
 <context>
  <name>reveal</name>
  <message>
   <source>There is no file manager to show {} with.</source>
   <translation>Es gibt keine Dateiverwaltung, um {} zu zeigen.</translation>
  </message>
  <message>
   <source>{} cannot be looked at: {}.</source>
   <translation>{} kann nicht angesehen werden: {}.</translation>
  </message>
  <message>
   <source>{} is gone. Put it back, or pin another file in its place.</source>
   <translation>{} ist weg. Legen Sie die Datei zurück oder heften Sie eine andere an.</translation>
  </message>
 </context>
 <context>
  <name>rules</name>
  <message>
   <source>Claude Code begins its system prompt with 'x-anthropic-billing-header: cc_version=...; ...', which is another one in every conversation. It is left out of the first system message, where it must be the first line.</source>
   <translation>Claude Code beginnt seinen System-Prompt mit 'x-anthropic-billing-header: cc_version=...; ...', das in jedem Gespräch anders ist. Es wird aus der ersten Systemnachricht weggelassen, wo es die erste Zeile sein muss.</translation>
  </message>
  <message>
   <source>Claude Code's billing header is left out</source>
   <translation>Claude Codes Abrechnungs-Kopfzeile wird weggelassen</translation>
  </message>
  <message>
   <source>Dates of known clients stand behind the tools</source>
   <translation>Datumsangaben bekannter Programme stehen hinter den Werkzeugen</translation>
  </message>
  <message>
   <source>The line with today's date that Claude Code and opencode put into their system prompts is moved to the front of the first user message, so that a new day changes nothing before it. Off by default: it adds a line to a message of the user's. Other dates and clocks stay where they are.</source>
   <translation>Die Zeile mit dem heutigen Datum, die Claude Code und opencode in ihre System-Prompts setzen, wird an den Anfang der ersten Nachricht des Benutzers verschoben, damit ein neuer Tag davor nichts ändert. Standardmäßig aus: Sie fügt einer Nachricht des Benutzers eine Zeile hinzu. Andere Datums- und Zeitangaben bleiben, wo sie sind.</translation>
  </message>
  <message>
   <source>Tool definitions are put in the order of their names, for clients that send the same tools in changing order. Off by default: a model may prefer the first tools it reads.</source>
   <translation>Definitionen von Werkzeugen werden nach Namen geordnet, für Programme, die dieselben Werkzeuge in wechselnder Reihenfolge senden. Standardmäßig aus: Ein Modell bevorzugt vielleicht die Werkzeuge, die es zuerst liest.</translation>
  </message>
  <message>
   <source>Tools are sorted by name</source>
   <translation>Werkzeuge werden nach Namen sortiert</translation>
  </message>
 </context>
 <context>
  <name>run</name>
  <message>
   <source>Pinfill cannot start: {}. It needs a folder of yours on a disk with room.</source>
   <translation>Pinfill kann nicht starten: {}. Es braucht einen Ordner, der Ihnen gehört, auf einer Festplatte mit freiem Platz.</translation>
  </message>
  <message>
   <source>Pinfill runs already, but does not answer. End it, and start it again.</source>
   <translation>Pinfill läuft bereits, antwortet aber nicht. Beenden Sie es und starten Sie es neu.</translation>
  </message>
 </context>
 <context>
  <name>savings</name>
  <message>
   <source>Cached</source>
   <translation>Im Cache</translation>
  </message>
  <message>
   <source>Day</source>
   <translation>Tag</translation>
  </message>
  <message>
   <source>Pin</source>
   <translation>Pin</translation>
  </message>
  <message>
   <source>Prefill done</source>
   <translation>Ausgeführter Prefill</translation>
  </message>
  <message>
   <source>Prefill saved</source>
   <translation>Gesparter Prefill</translation>
  </message>
  <message>
   <source>Prompt tokens</source>
   <translation>Prompt-Token</translation>
  </message>
  <message>
   <source>Requests</source>
   <translation>Anfragen</translation>
  </message>
  <message>
   <source>not pinned</source>
   <translation>nicht angeheftet</translation>
  </message>
 </context>
 <context>
  <name>states</name>
  <message>
   <source>If that goes on, it is restarted by {}.</source>
   <translation>Bleibt das so, wird er bis {} neu gestartet.</translation>
  </message>
  <message>
   <source>It crashed ({}).</source>
   <translation>Er ist abgestürzt ({}).</translation>
  </message>
  <message>
   <source>It ended with exit code {}.</source>
   <translation>Er endete mit dem Rückgabewert {}.</translation>
  </message>
  <message>
   <source>The service does not answer.</source>
   <translation>Der Dienst antwortet nicht.</translation>
  </message>
  <message>
   <source>busy</source>
   <translation>beschäftigt</translation>
  </message>
  <message>
   <source>cold</source>
   <translation>kalt</translation>
  </message>
  <message>
   <source>does not answer</source>
   <translation>antwortet nicht</translation>
  </message>
  <message>
   <source>does not answer, restart by {}</source>
   <translation>antwortet nicht, Neustart bis {}</translation>
  </message>
  <message>
   <source>failed</source>
   <translation>fehlgeschlagen</translation>
  </message>
  <message>
   <source>loading the model</source>
   <translation>lädt das Modell</translation>
  </message>
  <message>
   <source>prefilling</source>
   <translation>wird ausgewertet</translation>
  </message>
  <message>
   <source>queued</source>
   <translation>in der Warteschlange</translation>
  </message>
  <message>
   <source>ready</source>
   <translation>bereit</translation>
  </message>
  <message>
   <source>restarting</source>
   <translation>startet neu</translation>
  </message>
  <message>
   <source>stale</source>
   <translation>veraltet</translation>
  </message>
  <message>
   <source>starting</source>
   <translation>startet</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>angehalten</translation>
  </message>
  <message>
   <source>warm</source>
   <translation>warm</translation>
  </message>
 </context>
 <context>
  <name>terminals</name>
  <message>
   <source>No terminal program was found. Open one, and type: {}</source>
   <translation>Es wurde kein Terminalprogramm gefunden. Öffnen Sie eines und tippen Sie: {}</translation>
  </message>
  <message>
   <source>{} cannot be started. Open a terminal, and type: {}</source>
   <translation>{} kann nicht gestartet werden. Öffnen Sie ein Terminal und tippen Sie: {}</translation>
  </message>
 </context>
 <context>
  <name>units</name>
  <message>
   <source>now</source>
   <translation>jetzt</translation>
  </message>
  <message>
   <source>{} %</source>
   <translation>{} %</translation>
  </message>
  <message>
   <source>{} GB</source>
   <translation>{} GB</translation>
  </message>
  <message>
   <source>{} MB</source>
   <translation>{} MB</translation>
  </message>
  <message>
   <source>{} bytes</source>
   <translation>{} Byte</translation>
  </message>
  <message>
   <source>{} d</source>
   <translation>{} T.</translation>
  </message>
  <message>
   <source>{} h</source>
   <translation>{} h</translation>
  </message>
  <message>
   <source>{} h {} min</source>
   <translation>{} h {} min</translation>
  </message>
  <message>
   <source>{} kB</source>
   <translation>{} kB</translation>
  </message>
  <message>
   <source>{} min</source>
   <translation>{} min</translation>
  </message>
  <message>
   <source>{} min {} s</source>
   <translation>{} min {} s</translation>
  </message>
  <message>
   <source>{} s</source>
   <translation>{} s</translation>
  </message>
  <message>
   <source>{} token</source>
   <translation>{} Token</translation>
  </message>
  <message>
   <source>{} tokens</source>
   <translation>{} Token</translation>
  </message>
  <message>
   <source>{} tokens/s</source>
   <translation>{} Token/s</translation>
  </message>
 </context>
 <context>
  <name>updates</name>
  <message>
   <source>Download {0} there, and type in its folder:
sudo apt-get install ./{0}</source>
   <translation>Laden Sie dort {0} herunter und geben Sie im selben Ordner ein:
sudo apt-get install ./{0}</translation>
  </message>
  <message>
   <source>Download {} there, and start it.</source>
   <translation>Laden Sie dort {} herunter und starten Sie es.</translation>
  </message>
  <message>
   <source>Download {} there, unpack it, and run its install.sh.</source>
   <translation>Laden Sie dort {} herunter, entpacken Sie es und führen Sie install.sh daraus aus.</translation>
  </message>
  <message>
   <source>No release is published at {home}.</source>
   <translation>Unter {home} ist keine Version veröffentlicht.</translation>
  </message>
  <message>
   <source>Pinfill {} is out.</source>
   <translation>Pinfill {} ist erschienen.</translation>
  </message>
  <message>
   <source>The answer of {host} is not understood. Look at {home} yourself.</source>
   <translation>Die Antwort von {host} ist nicht zu verstehen. Sehen Sie selbst unter {home} nach.</translation>
  </message>
  <message>
   <source>This is the newest version, {}.</source>
   <translation>Dies ist die neueste Version, {}.</translation>
  </message>
  <message>
   <source>This is {}; the newest release is {}.</source>
   <translation>Dies ist {}; die neueste veröffentlichte Version ist {}.</translation>
  </message>
  <message>
   <source>{host} cannot be reached safely. Look at this machine's clock and certificates, then check again.</source>
   <translation>{host} ist nicht sicher zu erreichen. Prüfen Sie Uhr und Zertifikate dieses Rechners und fragen Sie dann noch einmal nach.</translation>
  </message>
  <message>
   <source>{host} cannot be reached. Look at the network and the proxy, then check again.</source>
   <translation>{host} ist nicht zu erreichen. Prüfen Sie Netzwerk und Proxy und fragen Sie dann noch einmal nach.</translation>
  </message>
  <message>
   <source>{host} does not answer now, perhaps because this network asks often. Check again in an hour.</source>
   <translation>{host} gibt jetzt keine Auskunft, vielleicht weil aus diesem Netzwerk oft gefragt wird. Fragen Sie in einer Stunde noch einmal nach.</translation>
  </message>
  <message>
   <source>{host} takes too long. Check again later.</source>
   <translation>{host} braucht zu lange. Fragen Sie später noch einmal nach.</translation>
  </message>
 </context>
</TS>
