<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
 <context>
  <name>ActivityDetail</name>
  <message>
   <source>&amp;Pin this prefix up to</source>
   <translation>将此前缀固定到(&amp;P)</translation>
  </message>
  <message>
   <source>Its text is not remembered any more. Send it again, then pin it.</source>
   <translation>已不再保留它的文本。请重新发送，然后再固定。</translation>
  </message>
  <message>
   <source>Left what is cached at token {}</source>
   <translation>在第 {} 个 token 处偏离了缓存</translation>
  </message>
  <message>
   <source>Nothing selected</source>
   <translation>未选择任何项</translation>
  </message>
  <message>
   <source>Select a request to see what of it was cached, and why not all.</source>
   <translation>选择一个请求，查看其中哪些内容来自缓存，以及为何不是全部。</translation>
  </message>
  <message>
   <source>answered with {} in {}</source>
   <translation>回答 {}，用时 {}</translation>
  </message>
  <message>
   <source>cancelled by the client</source>
   <translation>被客户端取消</translation>
  </message>
  <message>
   <source>failed: {}</source>
   <translation>失败：{}</translation>
  </message>
  <message>
   <source>first word after {}</source>
   <translation>{} 后出现首个词</translation>
  </message>
  <message>
   <source>{} more...</source>
   <translation>还有 {} 项...</translation>
  </message>
  <message>
   <source>{} of it waiting for others</source>
   <translation>其中 {} 在等待其他请求</translation>
  </message>
  <message>
   <source>{} of prefill saved</source>
   <translation>节省了 {} 的预填充</translation>
  </message>
  <message>
   <source>{}, in "{}"</source>
   <translation>{}，位于“{}”</translation>
  </message>
  <message>
   <source>{}: {}</source>
   <translation>{}：{}</translation>
  </message>
 </context>
 <context>
  <name>ActivityPage</name>
  <message>
   <source>&amp;Connect an agent</source>
   <translation>连接智能体(&amp;C)</translation>
  </message>
  <message>
   <source>Activity</source>
   <translation>活动</translation>
  </message>
  <message>
   <source>Copy the &amp;address</source>
   <translation>复制地址(&amp;A)</translation>
  </message>
  <message>
   <source>Height of the details</source>
   <translation>详细信息的高度</translation>
  </message>
  <message>
   <source>No requests yet. Connect an agent, or send requests to {}.</source>
   <translation>还没有请求。请连接一个智能体，或向 {} 发送请求。</translation>
  </message>
  <message>
   <source>Requests are shown while it runs.</source>
   <translation>服务运行时会显示请求。</translation>
  </message>
  <message>
   <source>What is remembered of this request cannot be shown. {}</source>
   <translation>无法显示此请求的保留内容。{}</translation>
  </message>
  <message>
   <source>{} requests: {} of {} prompt tokens came from the cache.</source>
   <translation>{} 个请求：{}/{} 个提示 token 来自缓存。</translation>
  </message>
 </context>
 <context>
  <name>AgentActions</name>
  <message>
   <source>&amp;Copy settings</source>
   <translation>复制设置(&amp;C)</translation>
  </message>
  <message>
   <source>&amp;Launch in a terminal</source>
   <translation>在终端中启动(&amp;L)</translation>
  </message>
  <message>
   <source>&amp;Test</source>
   <translation>测试(&amp;T)</translation>
  </message>
  <message>
   <source>&amp;Undo configuration...</source>
   <translation>撤销配置(&amp;U)...</translation>
  </message>
  <message>
   <source>&amp;Write configuration...</source>
   <translation>写入配置(&amp;W)...</translation>
  </message>
  <message>
   <source>Look a&amp;gain</source>
   <translation>重新查找(&amp;G)</translation>
  </message>
  <message>
   <source>No model is loaded. Load one, then connect the agent.</source>
   <translation>尚未加载模型。请先加载一个模型，然后连接智能体。</translation>
  </message>
  <message>
   <source>Sends one short request, as the agent would.</source>
   <translation>像智能体那样发送一个简短的请求。</translation>
  </message>
  <message>
   <source>The settings for {} are on the clipboard, with the key.</source>
   <translation>{} 的设置（含密钥）已复制到剪贴板。</translation>
  </message>
  <message>
   <source>Undo...</source>
   <translation>撤销...</translation>
  </message>
  <message>
   <source>With the key: paste them where nobody else can read them.</source>
   <translation>其中含有密钥：请只粘贴到他人无法读取的地方。</translation>
  </message>
  <message>
   <source>{} is as it was before.</source>
   <translation>{} 已恢复原样。</translation>
  </message>
  <message>
   <source>{} starts in a terminal of its own.</source>
   <translation>{} 正在自己的终端中启动。</translation>
  </message>
  <message>
   <source>{} uses Pinfill from its next start.</source>
   <translation>{} 将从下次启动起使用 Pinfill。</translation>
  </message>
 </context>
 <context>
  <name>AgentDetail</name>
  <message>
   <source>Answered in {}: {} cached, {} new. "{}"</source>
   <translation>用时 {} 得到回答：{} 个来自缓存，{} 个为新增。“{}”</translation>
  </message>
  <message>
   <source>Connected to the model {}, which is not loaded. Write the configuration again to use {}.</source>
   <translation>已连接到模型 {}，但它未加载。请重新写入配置以使用 {}。</translation>
  </message>
  <message>
   <source>Connected to {} with the model {}.</source>
   <translation>已连接到 {}，模型为 {}。</translation>
  </message>
  <message>
   <source>Connected, but its files were changed since. Write the configuration again to use Pinfill, or undo it.</source>
   <translation>已连接，但其文件此后被更改过。请重新写入配置以使用 Pinfill，或撤销配置。</translation>
  </message>
  <message>
   <source>No model is loaded. Load one, then launch or connect the agent.</source>
   <translation>尚未加载模型。请先加载一个模型，然后启动或连接智能体。</translation>
  </message>
  <message>
   <source>Not found on this machine. Get it: {}</source>
   <translation>在本机上未找到。获取方式：{}</translation>
  </message>
  <message>
   <source>Settings to paste</source>
   <translation>供粘贴的设置</translation>
  </message>
  <message>
   <source>The test failed. {}</source>
   <translation>测试失败。{}</translation>
  </message>
  <message>
   <source>This agent keeps its settings to itself. Copy them, and paste them there.</source>
   <translation>此智能体自行管理其设置。请复制设置，然后粘贴到那里。</translation>
  </message>
  <message>
   <source>Waiting for an answer...</source>
   <translation>正在等待回答...</translation>
  </message>
  <message>
   <source>{} begins with about {}, and {} takes {} in all: that leaves no room to work. Use a model with a longer context.</source>
   <translation>{} 一开始就需要约 {}，而 {} 总共只能容纳 {}：没有工作的余地。请使用上下文更长的模型。</translation>
  </message>
 </context>
 <context>
  <name>AgentStep</name>
  <message>
   <source>&amp;All agents...</source>
   <translation>所有智能体(&amp;L)...</translation>
  </message>
  <message>
   <source>A coding agent that is connected asks Pinfill instead of a service far away. Its long beginning is then evaluated once, not in every conversation. You see every change before it is made, and can undo it.</source>
   <translation>已连接的编程智能体会向 Pinfill 而不是远处的服务提问。它冗长的开头只需计算一次，而不是每次对话都计算。每项更改在执行前您都能看到，并且可以撤销。</translation>
  </message>
  <message>
   <source>An agent</source>
   <translation>智能体</translation>
  </message>
  <message>
   <source>Connect {}...</source>
   <translation>连接 {}...</translation>
  </message>
  <message>
   <source>Connected: {}.</source>
   <translation>已连接：{}。</translation>
  </message>
  <message>
   <source>Copy &amp;address</source>
   <translation>复制地址(&amp;A)</translation>
  </message>
  <message>
   <source>Copy &amp;key</source>
   <translation>复制密钥(&amp;K)</translation>
  </message>
  <message>
   <source>Found on this machine:</source>
   <translation>在本机上找到：</translation>
  </message>
  <message>
   <source>Looking for agents...</source>
   <translation>正在查找智能体...</translation>
  </message>
  <message>
   <source>No agent that Pinfill knows was found. Any program that can be given an address will do: {}</source>
   <translation>未找到 Pinfill 认识的智能体。任何可以设置地址的程序都可以使用：{}</translation>
  </message>
 </context>
 <context>
  <name>AgentsMenu</name>
  <message>
   <source>Agents could not be updated</source>
   <translation>智能体无法更新</translation>
  </message>
  <message>
   <source>Agents were updated</source>
   <translation>智能体已更新</translation>
  </message>
  <message>
   <source>All agents...</source>
   <translation>所有智能体...</translation>
  </message>
  <message>
   <source>Copy settings</source>
   <translation>复制设置</translation>
  </message>
  <message>
   <source>Launch in terminal</source>
   <translation>在终端中启动</translation>
  </message>
  <message>
   <source>Their configuration has the new address of the service: {}.</source>
   <translation>它们的配置已包含服务的新地址：{}。</translation>
  </message>
  <message>
   <source>Undo...</source>
   <translation>撤销...</translation>
  </message>
  <message>
   <source>Write configuration...</source>
   <translation>写入配置...</translation>
  </message>
  <message>
   <source>{} - connected</source>
   <translation>{} - 已连接</translation>
  </message>
  <message>
   <source>{} could not be started</source>
   <translation>无法启动 {}</translation>
  </message>
  <message>
   <source>{} could not be told</source>
   <translation>无法复制 {} 的设置</translation>
  </message>
  <message>
   <source>{} still has an old address</source>
   <translation>{} 仍使用旧地址</translation>
  </message>
 </context>
 <context>
  <name>AgentsPage</name>
  <message>
   <source>Agents</source>
   <translation>智能体</translation>
  </message>
  <message>
   <source>Launch an agent on Pinfill for once, or connect it: then its own configuration says where Pinfill is.</source>
   <translation>用 Pinfill 启动一次智能体，或者连接它：这样它自己的配置就会指明 Pinfill 的位置。</translation>
  </message>
 </context>
 <context>
  <name>ApplicationSection</name>
  <message>
   <source>&amp;Language</source>
   <translation>语言(&amp;L)</translation>
  </message>
  <message>
   <source>&amp;Tell me about pins and problems</source>
   <translation>通知我固定项的情况和问题(&amp;T)</translation>
  </message>
  <message>
   <source>Lo&amp;g</source>
   <translation>日志(&amp;G)</translation>
  </message>
  <message>
   <source>Pinfill shows it from its next start.</source>
   <translation>Pinfill 将从下次启动起使用该语言。</translation>
  </message>
  <message>
   <source>Start with the &amp;computer</source>
   <translation>随计算机启动(&amp;C)</translation>
  </message>
  <message>
   <source>Starting with the computer could not be changed. {}</source>
   <translation>无法更改随计算机启动的设置。{}</translation>
  </message>
  <message>
   <source>Th&amp;eme</source>
   <translation>主题(&amp;E)</translation>
  </message>
  <message>
   <source>This application</source>
   <translation>本应用程序</translation>
  </message>
  <message>
   <source>What the service writes into its log. Never prompts.</source>
   <translation>服务写入日志的内容。绝不包含提示。</translation>
  </message>
  <message>
   <source>as the system</source>
   <translation>跟随系统</translation>
  </message>
  <message>
   <source>dark</source>
   <translation>深色</translation>
  </message>
  <message>
   <source>errors</source>
   <translation>错误</translation>
  </message>
  <message>
   <source>everything</source>
   <translation>全部</translation>
  </message>
  <message>
   <source>information</source>
   <translation>信息</translation>
  </message>
  <message>
   <source>light</source>
   <translation>浅色</translation>
  </message>
  <message>
   <source>the log</source>
   <translation>日志</translation>
  </message>
  <message>
   <source>warnings</source>
   <translation>警告</translation>
  </message>
 </context>
 <context>
  <name>CachedBar</name>
  <message>
   <source>Tokens</source>
   <translation>Token 数</translation>
  </message>
  <message>
   <source>{} cached, {} new, of {} tokens</source>
   <translation>{} 个来自缓存，{} 个为新增，共 {} 个 token</translation>
  </message>
 </context>
 <context>
  <name>ChangeDialog</name>
  <message>
   <source>&amp;Undo</source>
   <translation>撤销(&amp;U)</translation>
  </message>
  <message>
   <source>&amp;Write</source>
   <translation>写入(&amp;W)</translation>
  </message>
  <message>
   <source>Left as it is, because it was changed since: {}</source>
   <translation>因此后被更改过而保持不变：{}</translation>
  </message>
  <message>
   <source>Nothing in the files changes.</source>
   <translation>文件内容没有变化。</translation>
  </message>
  <message>
   <source>Undo the configuration of {}</source>
   <translation>撤销 {} 的配置</translation>
  </message>
  <message>
   <source>What changes</source>
   <translation>更改内容</translation>
  </message>
  <message>
   <source>Write the configuration of {}</source>
   <translation>写入 {} 的配置</translation>
  </message>
  <message>
   <source>{} no longer uses Pinfill after that. What you changed yourself stays.</source>
   <translation>此后 {} 不再使用 Pinfill。您自己所做的更改会保留。</translation>
  </message>
  <message>
   <source>{} uses Pinfill from its next start. The rest of its files stays as it is, and this can be undone.</source>
   <translation>{} 将从下次启动起使用 Pinfill。其文件的其余部分保持不变，并且可以撤销。</translation>
  </message>
 </context>
 <context>
  <name>ColdWarm</name>
  <message>
   <source>{}
without what is cached: {}
with it: {}</source>
   <translation>{}
无缓存：{}
有缓存：{}</translation>
  </message>
 </context>
 <context>
  <name>ColumnView</name>
  <message>
   <source>As at first</source>
   <translation>恢复默认</translation>
  </message>
  <message>
   <source>Columns</source>
   <translation>列</translation>
  </message>
 </context>
 <context>
  <name>Commands</name>
  <message>
   <source>The command cannot be started: {}.</source>
   <translation>无法启动命令：{}。</translation>
  </message>
  <message>
   <source>The command failed and did not say why.</source>
   <translation>命令失败，且未说明原因。</translation>
  </message>
 </context>
 <context>
  <name>Difference</name>
  <message>
   <source>&amp;Cached, from before</source>
   <translation>之前缓存的(&amp;C)</translation>
  </message>
  <message>
   <source>&amp;Now</source>
   <translation>现在(&amp;N)</translation>
  </message>
  <message>
   <source>Different: {}</source>
   <translation>不同之处：{}</translation>
  </message>
 </context>
 <context>
  <name>FirstRun</name>
  <message>
   <source>&amp;Back</source>
   <translation>上一步(&amp;B)</translation>
  </message>
  <message>
   <source>&amp;Finish</source>
   <translation>完成(&amp;F)</translation>
  </message>
  <message>
   <source>&amp;Next</source>
   <translation>下一步(&amp;N)</translation>
  </message>
  <message>
   <source>&amp;Skip this step</source>
   <translation>跳过此步(&amp;S)</translation>
  </message>
  <message>
   <source>First steps with Pinfill</source>
   <translation>Pinfill 入门</translation>
  </message>
  <message>
   <source>Step {} of {}</source>
   <translation>第 {} 步，共 {} 步</translation>
  </message>
 </context>
 <context>
  <name>FoundLine</name>
  <message>
   <source>All models of other programs are imported.</source>
   <translation>其他程序的模型都已导入。</translation>
  </message>
  <message>
   <source>Can be imported: {}.</source>
   <translation>可导入：{}。</translation>
  </message>
  <message>
   <source>Cannot be imported: {}.</source>
   <translation>不可导入：{}。</translation>
  </message>
  <message>
   <source>LM Studio, Ollama and Hugging Face's cache have no models on this computer.</source>
   <translation>LM Studio、Ollama 和 Hugging Face 缓存在此计算机上没有模型。</translation>
  </message>
  <message>
   <source>Look &amp;again</source>
   <translation>重新查找(&amp;A)</translation>
  </message>
  <message>
   <source>Looking for models of LM Studio, Ollama and Hugging Face's cache...</source>
   <translation>正在查找 LM Studio、Ollama 和 Hugging Face 缓存中的模型...</translation>
  </message>
  <message>
   <source>Looks again for models of LM Studio, Ollama and Hugging Face's cache (F5)</source>
   <translation>再次查找 LM Studio、Ollama 和 Hugging Face 缓存中的模型 (F5)</translation>
  </message>
 </context>
 <context>
  <name>FoundModels</name>
  <message>
   <source>Looking for models of other programs took too long. Is a folder of theirs on a slow disk?</source>
   <translation>查找其他程序的模型用时过长。它们的文件夹是否在较慢的磁盘上？</translation>
  </message>
  <message>
   <source>Models of other programs could not be looked for. {}</source>
   <translation>无法查找其他程序的模型。{}</translation>
  </message>
  <message>
   <source>Other programs have more models on this machine than can be shown here. In a terminal, 'pinfill models found' lists them, and 'pinfill models import' takes one in.</source>
   <translation>其他程序在本机上的模型太多，无法在此全部显示。在终端中，'pinfill models found' 会列出它们，'pinfill models import' 可导入其中一个。</translation>
  </message>
  <message>
   <source>The look for models of other programs gave an answer that this version does not know.</source>
   <translation>查找其他程序的模型时得到了此版本无法识别的答复。</translation>
  </message>
 </context>
 <context>
  <name>HelpMenu</name>
  <message>
   <source>&amp;About Pinfill</source>
   <translation>关于 Pinfill(&amp;A)</translation>
  </message>
  <message>
   <source>&amp;First steps...</source>
   <translation>入门(&amp;F)...</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>帮助(&amp;H)</translation>
  </message>
  <message>
   <source>&amp;Help pages</source>
   <translation>帮助页面(&amp;H)</translation>
  </message>
  <message>
   <source>&amp;Log</source>
   <translation>日志(&amp;L)</translation>
  </message>
  <message>
   <source>&amp;Self-test...</source>
   <translation>自检(&amp;S)...</translation>
  </message>
  <message>
   <source>About Pinfill</source>
   <translation>关于 Pinfill</translation>
  </message>
  <message>
   <source>Licence: Apache-2.0. Nothing leaves this machine unless you ask for it.</source>
   <translation>许可证：Apache-2.0。除非您要求，任何内容都不会离开本机。</translation>
  </message>
  <message>
   <source>Pinfill {} keeps long prompt prefixes warm, so that they are not prefilled again.</source>
   <translation>Pinfill {} 让长的提示前缀保持温热，无需再次预填充。</translation>
  </message>
  <message>
   <source>The help pages cannot be shown</source>
   <translation>无法显示帮助页面</translation>
  </message>
 </context>
 <context>
  <name>HelpPages</name>
  <message>
   <source>Help</source>
   <translation>帮助</translation>
  </message>
  <message>
   <source>Help pages</source>
   <translation>帮助页面</translation>
  </message>
  <message>
   <source>Width of the list</source>
   <translation>列表的宽度</translation>
  </message>
 </context>
 <context>
  <name>HubSection</name>
  <message>
   <source>&amp;Forget</source>
   <translation>移除(&amp;F)</translation>
  </message>
  <message>
   <source>Access token of Hugging Face</source>
   <translation>Hugging Face 访问令牌</translation>
  </message>
  <message>
   <source>Deletes the token from this machine. At Hugging Face it stays valid.</source>
   <translation>从本机删除令牌。它在 Hugging Face 仍然有效。</translation>
  </message>
  <message>
   <source>Hu&amp;b token</source>
   <translation>访问令牌(&amp;B)</translation>
  </message>
  <message>
   <source>It comes from the variable HF_TOKEN, which wins over one that is saved here.</source>
   <translation>它来自环境变量 HF_TOKEN，优先于在此保存的令牌。</translation>
  </message>
  <message>
   <source>It is kept in the system keyring.</source>
   <translation>它保存在系统密钥环中。</translation>
  </message>
  <message>
   <source>It is kept in {}, for this machine has no keyring.</source>
   <translation>它保存在 {} 中，因为本机没有密钥环。</translation>
  </message>
  <message>
   <source>It is the one of “hf auth login”, in {}.</source>
   <translation>它是 “hf auth login” 的令牌，位于 {}。</translation>
  </message>
  <message>
   <source>Models that are private, or whose licence has to be accepted first, ask for a token. It is sent to Hugging Face alone, when a model is downloaded from there.</source>
   <translation>私有模型以及需要先接受许可证的模型要求提供令牌。令牌只在从 Hugging Face 下载模型时发送给 Hugging Face。</translation>
  </message>
  <message>
   <source>One in the system keyring is looked for when a model is downloaded.</source>
   <translation>下载模型时会在系统密钥环中查找令牌。</translation>
  </message>
  <message>
   <source>Sa&amp;ve</source>
   <translation>保存(&amp;V)</translation>
  </message>
  <message>
   <source>That is no token: copy it again, as a whole and without spaces.</source>
   <translation>这不是令牌：请重新完整复制，不要带空格。</translation>
  </message>
  <message>
   <source>The system keyring is asked. It may want its password.</source>
   <translation>正在询问系统密钥环。它可能要求输入密码。</translation>
  </message>
  <message>
   <source>The token could not be forgotten. {}</source>
   <translation>无法移除令牌。{}</translation>
  </message>
  <message>
   <source>The token could not be saved. {}</source>
   <translation>无法保存令牌。{}</translation>
  </message>
  <message>
   <source>There is none.</source>
   <translation>没有令牌。</translation>
  </message>
  <message>
   <source>This machine has no keyring, so the token is kept in {}, which only you can read.</source>
   <translation>本机没有密钥环，因此令牌保存在 {} 中，只有您可以读取。</translation>
  </message>
 </context>
 <context>
  <name>ImportLine</name>
  <message>
   <source>&amp;Import</source>
   <translation>导入(&amp;I)</translation>
  </message>
  <message>
   <source>All files (*)</source>
   <translation>所有文件 (*)</translation>
  </message>
  <message>
   <source>Choose a name for it, of the letters a to z and digits:</source>
   <translation>请用字母 a 到 z 和数字为它取一个名称：</translation>
  </message>
  <message>
   <source>GGUF models (*.gguf)</source>
   <translation>GGUF 模型 (*.gguf)</translation>
  </message>
  <message>
   <source>Import &amp;file...</source>
   <translation>导入文件(&amp;F)...</translation>
  </message>
  <message>
   <source>Import a folder with an ONNX model</source>
   <translation>导入包含 ONNX 模型的文件夹</translation>
  </message>
  <message>
   <source>Import a model</source>
   <translation>导入模型</translation>
  </message>
  <message>
   <source>Import f&amp;older...</source>
   <translation>导入文件夹(&amp;O)...</translation>
  </message>
  <message>
   <source>Importing {}</source>
   <translation>正在导入 {}</translation>
  </message>
  <message>
   <source>S&amp;top</source>
   <translation>停止(&amp;T)</translation>
  </message>
  <message>
   <source>Stopping the import of {}</source>
   <translation>正在停止导入 {}</translation>
  </message>
  <message>
   <source>The import of {} was stopped. Nothing of it is kept.</source>
   <translation>已停止导入 {}。未保留任何内容。</translation>
  </message>
  <message>
   <source>There is a model {} on this computer already. A name for this one:</source>
   <translation>此计算机上已有模型 {}。请为这个模型命名：</translation>
  </message>
  <message>
   <source>{} was not imported. {}</source>
   <translation>未导入 {}。{}</translation>
  </message>
  <message>
   <source>{}: {}</source>
   <translation>{}：{}</translation>
  </message>
 </context>
 <context>
  <name>KeySection</name>
  <message>
   <source>API key</source>
   <translation>API 密钥</translation>
  </message>
  <message>
   <source>Copy &amp;key</source>
   <translation>复制密钥(&amp;K)</translation>
  </message>
  <message>
   <source>Programs send it with every request. It comes from PINFILL_API_KEY or settings.toml.</source>
   <translation>程序在每个请求中发送它。它来自 PINFILL_API_KEY 或 settings.toml。</translation>
  </message>
  <message>
   <source>Programs send it with every request. It is kept in the system keyring.</source>
   <translation>程序在每个请求中发送它。它保存在系统密钥环中。</translation>
  </message>
  <message>
   <source>Programs send it with every request. It is made when the service first starts.</source>
   <translation>程序在每个请求中发送它。它在服务首次启动时生成。</translation>
  </message>
  <message>
   <source>Programs send it with every request. This machine has no keyring, so it is kept in {}.</source>
   <translation>程序在每个请求中发送它。本机没有密钥环，因此保存在 {} 中。</translation>
  </message>
  <message>
   <source>The service runs without a key (no_key in settings.toml): every program here may use it.</source>
   <translation>服务在没有密钥的情况下运行（settings.toml 中的 no_key）：本机的每个程序都可以使用它。</translation>
  </message>
 </context>
 <context>
  <name>LogPage</name>
  <message>
   <source>&amp;Copy</source>
   <translation>复制(&amp;C)</translation>
  </message>
  <message>
   <source>1 line copied.</source>
   <translation>已复制 1 行。</translation>
  </message>
  <message>
   <source>All lines</source>
   <translation>所有行</translation>
  </message>
  <message>
   <source>Errors</source>
   <translation>错误</translation>
  </message>
  <message>
   <source>Log</source>
   <translation>日志</translation>
  </message>
  <message>
   <source>No line is like that.</source>
   <translation>没有符合条件的行。</translation>
  </message>
  <message>
   <source>Open &amp;folder</source>
   <translation>打开文件夹(&amp;F)</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>搜索</translation>
  </message>
  <message>
   <source>Search the log</source>
   <translation>搜索日志</translation>
  </message>
  <message>
   <source>Self-&amp;test...</source>
   <translation>自检(&amp;T)...</translation>
  </message>
  <message>
   <source>Show &amp;all lines</source>
   <translation>显示所有行(&amp;A)</translation>
  </message>
  <message>
   <source>The log in {} cannot be read: {}.</source>
   <translation>无法读取 {} 中的日志：{}。</translation>
  </message>
  <message>
   <source>The service has said nothing yet.</source>
   <translation>服务尚未输出任何内容。</translation>
  </message>
  <message>
   <source>The service was not started here, so its log is where it was started.</source>
   <translation>服务不是在此处启动的，因此日志在启动它的地方。</translation>
  </message>
  <message>
   <source>There is no file manager to show {} with.</source>
   <translation>没有可用来显示 {} 的文件管理器。</translation>
  </message>
  <message>
   <source>Warnings and errors</source>
   <translation>警告和错误</translation>
  </message>
  <message>
   <source>Which lines</source>
   <translation>显示哪些行</translation>
  </message>
  <message>
   <source>{} lines copied.</source>
   <translation>已复制 {} 行。</translation>
  </message>
 </context>
 <context>
  <name>MainWindow</name>
  <message>
   <source>Pages</source>
   <translation>页面</translation>
  </message>
 </context>
 <context>
  <name>MemoryBar</name>
  <message>
   <source>Memory</source>
   <translation>内存</translation>
  </message>
  <message>
   <source>Memory for cached prefixes: {}</source>
   <translation>缓存前缀所用内存：{}</translation>
  </message>
  <message>
   <source>cached {}</source>
   <translation>已缓存 {}</translation>
  </message>
  <message>
   <source>free {} of {}</source>
   <translation>可用 {}，共 {}</translation>
  </message>
  <message>
   <source>pinned {}</source>
   <translation>已固定 {}</translation>
  </message>
 </context>
 <context>
  <name>MemorySection</name>
  <message>
   <source>&amp;Disk for prefixes</source>
   <translation>前缀可用磁盘(&amp;D)</translation>
  </message>
  <message>
   <source>&amp;Memory for prefixes</source>
   <translation>前缀可用内存(&amp;M)</translation>
  </message>
  <message>
   <source>0: pins are prefilled again after a restart.</source>
   <translation>0：重启后重新预填充固定项。</translation>
  </message>
  <message>
   <source>Activity then shows them after a restart too. Turned off, what was kept is deleted.</source>
   <translation>这样重启后活动页面仍会显示它们。关闭后，已保留的内容将被删除。</translation>
  </message>
  <message>
   <source>Keep prefixes that are &amp;not pinned on disk too</source>
   <translation>将未固定的前缀也保留在磁盘上(&amp;N)</translation>
  </message>
  <message>
   <source>Keep the texts of re&amp;quests</source>
   <translation>保留请求的文本(&amp;Q)</translation>
  </message>
  <message>
   <source>Memory and disk</source>
   <translation>内存和磁盘</translation>
  </message>
  <message>
   <source>They survive a restart. They hold what was said in conversations.</source>
   <translation>它们在重启后仍然存在。其中包含对话的内容。</translation>
  </message>
  <message>
   <source>{} of the {} in this machine.</source>
   <translation>占用 {}，本机共有 {}。</translation>
  </message>
  <message>
   <source>{}; {} are free.</source>
   <translation>{}；可用 {}。</translation>
  </message>
 </context>
 <context>
  <name>ModelActions</name>
  <message>
   <source>&amp;Import</source>
   <translation>导入(&amp;I)</translation>
  </message>
  <message>
   <source>&amp;Load</source>
   <translation>加载(&amp;L)</translation>
  </message>
  <message>
   <source>&amp;Pull</source>
   <translation>下载(&amp;P)</translation>
  </message>
  <message>
   <source>&amp;Pull again</source>
   <translation>重新下载(&amp;P)</translation>
  </message>
  <message>
   <source>&amp;Remove</source>
   <translation>移除(&amp;R)</translation>
  </message>
  <message>
   <source>&amp;Remove...</source>
   <translation>移除(&amp;R)...</translation>
  </message>
  <message>
   <source>&amp;Stop</source>
   <translation>停止(&amp;S)</translation>
  </message>
  <message>
   <source>&amp;Unload</source>
   <translation>卸载(&amp;U)</translation>
  </message>
  <message>
   <source>Another one is being imported.</source>
   <translation>正在导入另一个模型。</translation>
  </message>
  <message>
   <source>Frees its memory; requests are refused until a model is loaded.</source>
   <translation>释放其内存；在加载模型之前，请求会被拒绝。</translation>
  </message>
  <message>
   <source>It can be pulled again.</source>
   <translation>可以重新下载。</translation>
  </message>
  <message>
   <source>Pulling {} was stopped. The next pull goes on where that is possible.</source>
   <translation>已停止下载 {}。下次下载会尽可能从中断处继续。</translation>
  </message>
  <message>
   <source>Remove {}? {} are deleted from this computer.</source>
   <translation>移除 {}？将从此计算机删除 {}。</translation>
  </message>
  <message>
   <source>The file or folder it was imported from stays.</source>
   <translation>导入来源的文件或文件夹会保留。</translation>
  </message>
  <message>
   <source>Unload it first, or load another one.</source>
   <translation>请先卸载它，或加载另一个模型。</translation>
  </message>
  <message>
   <source>{} is on this computer.</source>
   <translation>{} 在此计算机上。</translation>
  </message>
 </context>
 <context>
  <name>ModelChoice</name>
  <message>
   <source>{} is loaded, but not at the next start</source>
   <translation>{} 已加载，但下次启动时不会加载</translation>
  </message>
 </context>
 <context>
  <name>ModelDetail</name>
  <message>
   <source>A prompt of all {} takes {} of the {} for prefixes.</source>
   <translation>用满 {} 的提示需要 {}，前缀共可用 {}。</translation>
  </message>
  <message>
   <source>A prompt of all {} would take {}, more than the {} for prefixes: raise that in the settings.</source>
   <translation>用满 {} 的提示需要 {}，超过前缀可用的 {}：请在设置中调高。</translation>
  </message>
  <message>
   <source>Importing makes a copy for Pinfill. The original stays as it is.</source>
   <translation>导入会为 Pinfill 创建一份副本。原文件保持不变。</translation>
  </message>
  <message>
   <source>It cannot be imported: {}</source>
   <translation>无法导入：{}</translation>
  </message>
  <message>
   <source>Nothing selected</source>
   <translation>未选择任何项</translation>
  </message>
  <message>
   <source>Select a model to see what it needs, and to load it.</source>
   <translation>选择一个模型，查看它的需求并加载它。</translation>
  </message>
  <message>
   <source>context {}</source>
   <translation>上下文 {}</translation>
  </message>
  <message>
   <source>from {}</source>
   <translation>来自 {}</translation>
  </message>
  <message>
   <source>licence {}</source>
   <translation>许可证 {}</translation>
  </message>
  <message>
   <source>{} on disk</source>
   <translation>磁盘占用 {}</translation>
  </message>
  <message>
   <source>{} to download</source>
   <translation>需下载 {}</translation>
  </message>
 </context>
 <context>
  <name>ModelImport</name>
  <message>
   <source>The import cannot be started: {}.</source>
   <translation>无法开始导入：{}。</translation>
  </message>
  <message>
   <source>The import failed and did not say why.</source>
   <translation>导入失败，且未说明原因。</translation>
  </message>
 </context>
 <context>
  <name>ModelSection</name>
  <message>
   <source>C&amp;ontext length</source>
   <translation>上下文长度(&amp;O)</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Th&amp;reads</source>
   <translation>线程(&amp;R)</translation>
  </message>
  <message>
   <source>This machine has {} cores. More threads than cores make it slower.</source>
   <translation>本机有 {} 个核心。线程多于核心会变慢。</translation>
  </message>
  <message>
   <source>Tokens. A shorter one needs less memory.</source>
   <translation>以 token 计。较短的上下文需要较少内存。</translation>
  </message>
  <message>
   <source>what the model allows</source>
   <translation>模型允许的长度</translation>
  </message>
 </context>
 <context>
  <name>ModelStep</name>
  <message>
   <source>&amp;Choose one to import...</source>
   <translation>选择要导入的模型(&amp;C)...</translation>
  </message>
  <message>
   <source>&amp;Fetch {}, {}</source>
   <translation>下载 {}，{}(&amp;F)</translation>
  </message>
  <message>
   <source>&amp;Import a file...</source>
   <translation>导入文件(&amp;I)...</translation>
  </message>
  <message>
   <source>&amp;Load {}</source>
   <translation>加载 {}(&amp;L)</translation>
  </message>
  <message>
   <source>&amp;Other models...</source>
   <translation>其他模型(&amp;O)...</translation>
  </message>
  <message>
   <source>A model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>F&amp;etch {}, {}</source>
   <translation>下载 {}，{}(&amp;E)</translation>
  </message>
  <message>
   <source>Fe&amp;tch {}, {}</source>
   <translation>下载 {}，{}(&amp;T)</translation>
  </message>
  <message>
   <source>Lo&amp;ad {}</source>
   <translation>加载 {}(&amp;A)</translation>
  </message>
  <message>
   <source>Loa&amp;d {}</source>
   <translation>加载 {}(&amp;D)</translation>
  </message>
  <message>
   <source>Pinfill answers with a language model that runs on this machine. Nothing you ask leaves it.</source>
   <translation>Pinfill 使用在本机运行的语言模型来回答。您提出的任何内容都不会离开本机。</translation>
  </message>
  <message>
   <source>The model is being loaded...</source>
   <translation>正在加载模型...</translation>
  </message>
  <message>
   <source>There are models on this machine. Load one.</source>
   <translation>本机上有模型。请加载一个。</translation>
  </message>
  <message>
   <source>There is no model on this machine yet. Licence of what is offered here: {}.</source>
   <translation>本机上还没有模型。此处提供的模型的许可证：{}。</translation>
  </message>
  <message>
   <source>You have {}: importing one downloads nothing. Licence of what can be fetched: {}.</source>
   <translation>您有 {}：导入无需下载。可下载模型的许可证：{}。</translation>
  </message>
  <message>
   <source>not known</source>
   <translation>未知</translation>
  </message>
  <message>
   <source>{} is being fetched: {}.</source>
   <translation>正在下载 {}：{}。</translation>
  </message>
  <message>
   <source>{} is loaded. It takes {} at once.</source>
   <translation>{} 已加载。它一次可容纳 {}。</translation>
  </message>
 </context>
 <context>
  <name>ModelsPage</name>
  <message>
   <source>Asking the service.</source>
   <translation>正在询问服务。</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Models are shown while it runs.</source>
   <translation>服务运行时会显示模型。</translation>
  </message>
  <message>
   <source>No model is loaded. Load one that is on this computer, or pull or import one first.</source>
   <translation>尚未加载模型。请加载此计算机上的模型，或先下载或导入一个。</translation>
  </message>
  <message>
   <source>{} runs on {}.</source>
   <translation>{} 在 {} 上运行。</translation>
  </message>
 </context>
 <context>
  <name>NetworkSection</name>
  <message>
   <source>&amp;Port</source>
   <translation>端口(&amp;P)</translation>
  </message>
  <message>
   <source>By which others reach this machine, with commas between them. Other names are refused.</source>
   <translation>其他机器访问本机所用的名称，以逗号分隔。其他名称会被拒绝。</translation>
  </message>
  <message>
   <source>Everyone who can reach this machine and has the key can then use the model, see what is cached, and evict it. The connection is not encrypted: whoever can listen can read the key and all prompts. Do this only in a network you trust.</source>
   <translation>任何能够访问本机并拥有密钥的人都可以使用模型、查看缓存内容并将其移除。连接未加密：能够监听的人可以读取密钥和所有提示。请只在您信任的网络中这样做。</translation>
  </message>
  <message>
   <source>It needs the API key: take no_key out of settings.toml first.</source>
   <translation>这需要 API 密钥：请先从 settings.toml 中去掉 no_key。</translation>
  </message>
  <message>
   <source>Let other machines &amp;use the service</source>
   <translation>允许其他机器使用此服务(&amp;U)</translation>
  </message>
  <message>
   <source>N&amp;ames and addresses</source>
   <translation>名称和地址(&amp;A)</translation>
  </message>
  <message>
   <source>Network</source>
   <translation>网络</translation>
  </message>
 </context>
 <context>
  <name>Notifications</name>
  <message>
   <source>It can be loaded.</source>
   <translation>可以加载它了。</translation>
  </message>
  <message>
   <source>Pinfill has a problem</source>
   <translation>Pinfill 遇到问题</translation>
  </message>
  <message>
   <source>Requests that begin with it start at once.</source>
   <translation>以它开头的请求会立即开始。</translation>
  </message>
  <message>
   <source>The model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>The service failed</source>
   <translation>服务出现故障</translation>
  </message>
  <message>
   <source>{} failed</source>
   <translation>{} 失败</translation>
  </message>
  <message>
   <source>{} is here</source>
   <translation>{} 已就绪</translation>
  </message>
  <message>
   <source>{} is stale</source>
   <translation>{} 已过期</translation>
  </message>
  <message>
   <source>{} is warm</source>
   <translation>{} 已温热</translation>
  </message>
  <message>
   <source>{} pins are stale</source>
   <translation>{} 个固定项已过期</translation>
  </message>
  <message>
   <source>{} pins failed</source>
   <translation>{} 个固定项失败</translation>
  </message>
  <message>
   <source>{} start at once from now on.</source>
   <translation>从现在起，{} 可立即开始。</translation>
  </message>
 </context>
 <context>
  <name>PinDialog</name>
  <message>
   <source>&amp;Name</source>
   <translation>名称(&amp;N)</translation>
  </message>
  <message>
   <source>&amp;Pin</source>
   <translation>固定(&amp;P)</translation>
  </message>
  <message>
   <source>A name needs Latin letters or digits: it becomes part of a model's name.</source>
   <translation>名称需要包含拉丁字母或数字：它会成为模型名称的一部分。</translation>
  </message>
  <message>
   <source>Give it a name: programs choose it by that.</source>
   <translation>请为它命名：程序通过名称来选择它。</translation>
  </message>
  <message>
   <source>No model is loaded. Load one, then pin.</source>
   <translation>尚未加载模型。请先加载一个，然后固定。</translation>
  </message>
  <message>
   <source>There is a pin {} already. Choose another name, or unpin that one first.</source>
   <translation>已有名为 {} 的固定项。请换一个名称，或先取消固定那一个。</translation>
  </message>
  <message>
   <source>Used as the model {}</source>
   <translation>用作模型 {}</translation>
  </message>
 </context>
 <context>
  <name>PinEntryDialog</name>
  <message>
   <source>Pin a cached prefix</source>
   <translation>固定一个已缓存的前缀</translation>
  </message>
  <message>
   <source>{}, kept warm from now on:</source>
   <translation>{}，从现在起保持温热：</translation>
  </message>
 </context>
 <context>
  <name>PinFilesDialog</name>
  <message>
   <source>&amp;Add files...</source>
   <translation>添加文件(&amp;A)...</translation>
  </message>
  <message>
   <source>&amp;Files, in this order</source>
   <translation>文件，按此顺序(&amp;F)</translation>
  </message>
  <message>
   <source>&amp;Refresh by itself when a file changes, while Pinfill runs</source>
   <translation>Pinfill 运行期间，文件更改时自动刷新(&amp;R)</translation>
  </message>
  <message>
   <source>&amp;Take out</source>
   <translation>移出(&amp;T)</translation>
  </message>
  <message>
   <source>1 file</source>
   <translation>1 个文件</translation>
  </message>
  <message>
   <source>Add f&amp;older...</source>
   <translation>添加文件夹(&amp;O)...</translation>
  </message>
  <message>
   <source>Add the files to pin.</source>
   <translation>请添加要固定的文件。</translation>
  </message>
  <message>
   <source>Looking at the files.</source>
   <translation>正在查看文件。</translation>
  </message>
  <message>
   <source>Move &amp;down</source>
   <translation>下移(&amp;D)</translation>
  </message>
  <message>
   <source>Move &amp;up</source>
   <translation>上移(&amp;U)</translation>
  </message>
  <message>
   <source>Pin files</source>
   <translation>固定文件</translation>
  </message>
  <message>
   <source>There is no file with text in it.</source>
   <translation>没有含文本的文件。</translation>
  </message>
  <message>
   <source>and {} more</source>
   <translation>以及另外 {} 个</translation>
  </message>
  <message>
   <source>left out</source>
   <translation>已略过</translation>
  </message>
  <message>
   <source>{} files</source>
   <translation>{} 个文件</translation>
  </message>
  <message>
   <source>{} left out: hidden, links, or no text</source>
   <translation>已略过 {} 个：隐藏文件、链接或无文本</translation>
  </message>
 </context>
 <context>
  <name>PinRequestDialog</name>
  <message>
   <source>Choose where the pin ends.</source>
   <translation>请选择固定项在何处结束。</translation>
  </message>
  <message>
   <source>Its text is not remembered any more. Send it again, then pin it.</source>
   <translation>已不再保留它的文本。请重新发送，然后再固定。</translation>
  </message>
  <message>
   <source>Pin a request</source>
   <translation>固定一个请求</translation>
  </message>
  <message>
   <source>Pin what {} sent at {}, &amp;up to and with:</source>
   <translation>固定 {} 于 {} 发送的内容，直到并包括(&amp;U)：</translation>
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
   <translation>复制模型名称(&amp;C)</translation>
  </message>
  <message>
   <source>&amp;Pin the sample rubric</source>
   <translation>固定示例评分标准(&amp;P)</translation>
  </message>
  <message>
   <source>A pin</source>
   <translation>固定项</translation>
  </message>
  <message>
   <source>A pin is a text that many requests begin with: instructions, a rubric, a handbook. Pinfill evaluates it once and keeps it warm; requests that begin with it start at once.</source>
   <translation>固定项是许多请求共同的开头：说明、评分标准或手册。Pinfill 只计算一次并使其保持温热；以它开头的请求会立即开始。</translation>
  </message>
  <message>
   <source>A pin is made for a model. Go back and load one first.</source>
   <translation>固定项是为某个模型创建的。请返回上一步，先加载模型。</translation>
  </message>
  <message>
   <source>Pin a &amp;document of mine...</source>
   <translation>固定我的文档(&amp;D)...</translation>
  </message>
  <message>
   <source>Pinfill comes with a sample: a rubric for rating short essays, about 1,900 tokens.</source>
   <translation>Pinfill 附带一个示例：短文评分标准，约 1,900 个 token。</translation>
  </message>
  <message>
   <source>The rubric is being read...</source>
   <translation>正在读取评分标准...</translation>
  </message>
  <message>
   <source>{} cannot be used. {}</source>
   <translation>无法使用 {}。{}</translation>
  </message>
  <message>
   <source>{} is being prefilled: {}.</source>
   <translation>正在预填充 {}：{}。</translation>
  </message>
  <message>
   <source>{} is pinned: {} that are not evaluated again. To use it, choose this model in any program: {}</source>
   <translation>{} 已固定：{} 无需再次计算。要使用它，请在任意程序中选择此模型：{}</translation>
  </message>
 </context>
 <context>
  <name>PinTextDialog</name>
  <message>
   <source>&amp;Text, put in front of every request that uses it</source>
   <translation>文本，置于每个使用它的请求之前(&amp;T)</translation>
  </message>
  <message>
   <source>Paste &amp;clipboard</source>
   <translation>粘贴剪贴板(&amp;C)</translation>
  </message>
  <message>
   <source>Pin text</source>
   <translation>固定文本</translation>
  </message>
  <message>
   <source>The text is too long: at most {} characters.</source>
   <translation>文本太长：最多 {} 个字符。</translation>
  </message>
  <message>
   <source>Type or paste the text to pin.</source>
   <translation>请键入或粘贴要固定的文本。</translation>
  </message>
  <message>
   <source>{} characters</source>
   <translation>{} 个字符</translation>
  </message>
 </context>
 <context>
  <name>PinfillApplication</name>
  <message>
   <source>Open Pinfill to see where to get it.</source>
   <translation>打开 Pinfill 查看在哪里获取。</translation>
  </message>
 </context>
 <context>
  <name>Pinning</name>
  <message>
   <source>&amp;Change it...</source>
   <translation>更改(&amp;C)...</translation>
  </message>
  <message>
   <source>&amp;Stop</source>
   <translation>停止(&amp;S)</translation>
  </message>
  <message>
   <source>Reading {} files for {}.</source>
   <translation>正在读取 {} 个文件，用于 {}。</translation>
  </message>
  <message>
   <source>Reading {} for {}.</source>
   <translation>正在读取 {}，用于 {}。</translation>
  </message>
  <message>
   <source>The request cannot be pinned. {}</source>
   <translation>无法固定该请求。{}</translation>
  </message>
  <message>
   <source>The text of this request is not remembered any more. Send it again, then pin it.</source>
   <translation>已不再保留此请求的文本。请重新发送，然后再固定。</translation>
  </message>
  <message>
   <source>{} was not pinned. {}</source>
   <translation>未固定 {}。{}</translation>
  </message>
 </context>
 <context>
  <name>PrefixActions</name>
  <message>
   <source>&amp;Copy model name</source>
   <translation>复制模型名称(&amp;C)</translation>
  </message>
  <message>
   <source>&amp;Evict</source>
   <translation>移除(&amp;E)</translation>
  </message>
  <message>
   <source>&amp;Pin this...</source>
   <translation>固定此项(&amp;P)...</translation>
  </message>
  <message>
   <source>&amp;Refresh</source>
   <translation>刷新(&amp;R)</translation>
  </message>
  <message>
   <source>&amp;Stop</source>
   <translation>停止(&amp;S)</translation>
  </message>
  <message>
   <source>&amp;Unpin</source>
   <translation>取消固定(&amp;U)</translation>
  </message>
  <message>
   <source>&amp;Unpin and evict</source>
   <translation>取消固定并移除(&amp;U)</translation>
  </message>
  <message>
   <source>&amp;Verify</source>
   <translation>验证(&amp;V)</translation>
  </message>
  <message>
   <source>Re&amp;name</source>
   <translation>重命名(&amp;N)</translation>
  </message>
  <message>
   <source>Refresh by itself when a file changes</source>
   <translation>文件更改时自动刷新</translation>
  </message>
  <message>
   <source>Revea&amp;l</source>
   <translation>在文件夹中显示(&amp;L)</translation>
  </message>
  <message>
   <source>Stops the prefill, and unpins it</source>
   <translation>停止预填充并取消固定</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>撤销</translation>
  </message>
 </context>
 <context>
  <name>PrefixBar</name>
  <message>
   <source>&amp;Evict all that is not pinned</source>
   <translation>移除所有未固定的前缀(&amp;E)</translation>
  </message>
  <message>
   <source>&amp;More</source>
   <translation>更多(&amp;M)</translation>
  </message>
  <message>
   <source>Pin &amp;clipboard...</source>
   <translation>固定剪贴板(&amp;C)...</translation>
  </message>
  <message>
   <source>Pin &amp;file...</source>
   <translation>固定文件(&amp;F)...</translation>
  </message>
  <message>
   <source>Pin &amp;text...</source>
   <translation>固定文本(&amp;T)...</translation>
  </message>
  <message>
   <source>Pin a recent &amp;request</source>
   <translation>固定最近的请求(&amp;R)</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>搜索</translation>
  </message>
  <message>
   <source>Search prefixes</source>
   <translation>搜索前缀</translation>
  </message>
 </context>
 <context>
  <name>PrefixDetail</name>
  <message>
   <source>&amp;Copy</source>
   <translation>复制(&amp;C)</translation>
  </message>
  <message>
   <source>(no words)</source>
   <translation>（无文字）</translation>
  </message>
  <message>
   <source>NOT equal to a cold run, {}</source>
   <translation>与冷运行不一致，{}</translation>
  </message>
  <message>
   <source>Nothing selected</source>
   <translation>未选择任何项</translation>
  </message>
  <message>
   <source>Part of a pin.</source>
   <translation>属于某个固定项。</translation>
  </message>
  <message>
   <source>Refresh by itself</source>
   <translation>自动刷新</translation>
  </message>
  <message>
   <source>Select a prefix to see where it comes from, and what can be done with it.</source>
   <translation>选择一个前缀，查看它的来源以及可以执行的操作。</translation>
  </message>
  <message>
   <source>Sent by {}</source>
   <translation>由 {} 发送</translation>
  </message>
  <message>
   <source>made for {}; Refresh makes it for the loaded model</source>
   <translation>为 {} 创建；刷新后适用于已加载的模型</translation>
  </message>
  <message>
   <source>not on disk: a restart prefills it again</source>
   <translation>不在磁盘上：重启后重新预填充</translation>
  </message>
  <message>
   <source>shares {} with others</source>
   <translation>与其他项共享 {}</translation>
  </message>
  <message>
   <source>the next request reads it from the disk</source>
   <translation>下次请求时从磁盘读取</translation>
  </message>
  <message>
   <source>use as model: {}</source>
   <translation>用作模型：{}</translation>
  </message>
  <message>
   <source>verified equal to a cold run, {}</source>
   <translation>已验证与冷运行一致，{}</translation>
  </message>
  <message>
   <source>{} files: {}</source>
   <translation>{} 个文件：{}</translation>
  </message>
  <message>
   <source>{} in memory</source>
   <translation>内存占用 {}</translation>
  </message>
  <message>
   <source>{} of prefill for each hit</source>
   <translation>每次命中节省 {} 的预填充</translation>
  </message>
  <message>
   <source>{} of prefill saved</source>
   <translation>节省了 {} 的预填充</translation>
  </message>
  <message>
   <source>{} on disk</source>
   <translation>磁盘占用 {}</translation>
  </message>
  <message>
   <source>{} selected</source>
   <translation>已选择 {} 项</translation>
  </message>
 </context>
 <context>
  <name>PrefixStop</name>
  <message>
   <source>Pin &amp;again...</source>
   <translation>重新固定(&amp;A)...</translation>
  </message>
  <message>
   <source>Stopped: {} is not pinned. What was prefilled stays cached while there is room.</source>
   <translation>已停止：{} 未固定。已预填充的内容会保留在缓存中，直到空间不足。</translation>
  </message>
  <message>
   <source>{} could not be stopped. {}</source>
   <translation>无法停止 {}。{}</translation>
  </message>
 </context>
 <context>
  <name>PrefixTable</name>
  <message>
   <source>evicted soon</source>
   <translation>即将移除</translation>
  </message>
  <message>
   <source>unpinned soon</source>
   <translation>即将取消固定</translation>
  </message>
 </context>
 <context>
  <name>PrefixView</name>
  <message>
   <source>Prefixes</source>
   <translation>前缀</translation>
  </message>
 </context>
 <context>
  <name>PrefixWork</name>
  <message>
   <source>&amp;Stop</source>
   <translation>停止(&amp;S)</translation>
  </message>
  <message>
   <source>A name needs Latin letters or digits: it becomes part of a model's name.</source>
   <translation>名称需要包含拉丁字母或数字：它会成为模型名称的一部分。</translation>
  </message>
  <message>
   <source>Comparing {} with a cold run, which takes as long as its prefill</source>
   <translation>正在将 {} 与冷运行比较，所需时间与预填充相同</translation>
  </message>
  <message>
   <source>Copied. Use {} as the model.</source>
   <translation>已复制。请将 {} 用作模型。</translation>
  </message>
  <message>
   <source>It cannot be shown</source>
   <translation>无法显示</translation>
  </message>
  <message>
   <source>Reading the files of {} again.</source>
   <translation>正在重新读取 {} 的文件。</translation>
  </message>
  <message>
   <source>Tell the programs that use it: their model is {} now.</source>
   <translation>请告知使用它的程序：它们的模型现在是 {}。</translation>
  </message>
  <message>
   <source>about {}</source>
   <translation>约 {}</translation>
  </message>
  <message>
   <source>and {} more</source>
   <translation>以及另外 {} 个</translation>
  </message>
  <message>
   <source>begun at {}</source>
   <translation>开始于 {}</translation>
  </message>
  <message>
   <source>{} could not be changed</source>
   <translation>无法更改 {}</translation>
  </message>
  <message>
   <source>{} could not be refreshed</source>
   <translation>无法刷新 {}</translation>
  </message>
  <message>
   <source>{} could not be renamed</source>
   <translation>无法重命名 {}</translation>
  </message>
  <message>
   <source>{} could not be verified. {}</source>
   <translation>无法验证 {}。{}</translation>
  </message>
  <message>
   <source>{} is NOT equal to a cold run (log probabilities differ by {}). Refresh it, and report this.</source>
   <translation>{} 与冷运行不一致（对数概率相差 {}）。请刷新它并报告此问题。</translation>
  </message>
  <message>
   <source>{} is called {} now.</source>
   <translation>{} 现在名为 {}。</translation>
  </message>
  <message>
   <source>{} is equal to a cold run: {} tokens compared, first word after {} instead of {}.</source>
   <translation>{} 与冷运行一致：比较了 {} 个 token，首个词在 {} 后出现，而不是 {}。</translation>
  </message>
  <message>
   <source>{} more to go</source>
   <translation>还剩 {} 项</translation>
  </message>
 </context>
 <context>
  <name>PrefixesPage</name>
  <message>
   <source>1 file</source>
   <translation>1 个文件</translation>
  </message>
  <message>
   <source>Asking the service what it has cached.</source>
   <translation>正在询问服务缓存了什么。</translation>
  </message>
  <message>
   <source>Choose a model</source>
   <translation>选择模型</translation>
  </message>
  <message>
   <source>Clear the search</source>
   <translation>清除搜索</translation>
  </message>
  <message>
   <source>Drop to pin this text</source>
   <translation>松开以固定此文本</translation>
  </message>
  <message>
   <source>Drop to pin {}</source>
   <translation>松开以固定 {}</translation>
  </message>
  <message>
   <source>No model is loaded. Load one, then pin what is to be kept warm for it.</source>
   <translation>尚未加载模型。请先加载一个，然后固定要为它保持温热的内容。</translation>
  </message>
  <message>
   <source>Nothing here has all of these words: "{}".</source>
   <translation>这里没有同时包含这些词的项：“{}”。</translation>
  </message>
  <message>
   <source>Nothing pinned yet. Drop a document here, or pin the prompt of a running agent.</source>
   <translation>尚未固定任何内容。请将文档拖放到这里，或固定正在运行的智能体的提示。</translation>
  </message>
  <message>
   <source>Pin a document...</source>
   <translation>固定文档...</translation>
  </message>
  <message>
   <source>Pin a prompt...</source>
   <translation>固定提示...</translation>
  </message>
  <message>
   <source>Prefixes</source>
   <translation>前缀</translation>
  </message>
  <message>
   <source>Start the service</source>
   <translation>启动服务</translation>
  </message>
  <message>
   <source>The service is not running ({}). Prefixes are shown while it does.</source>
   <translation>服务未运行（{}）。服务运行时会显示前缀。</translation>
  </message>
  <message>
   <source>The service is {}. Prefixes are shown when it is ready.</source>
   <translation>服务状态：{}。就绪后会显示前缀。</translation>
  </message>
  <message>
   <source>{} files</source>
   <translation>{} 个文件</translation>
  </message>
 </context>
 <context>
  <name>Removals</name>
  <message>
   <source>1 prefix</source>
   <translation>1 个前缀</translation>
  </message>
  <message>
   <source>Needs {} of prefill next time.</source>
   <translation>下次需要 {} 的预填充。</translation>
  </message>
  <message>
   <source>Un&amp;do</source>
   <translation>撤销(&amp;D)</translation>
  </message>
  <message>
   <source>{} of {} could not be given up. {}</source>
   <translation>{} 项（共 {} 项）无法放弃。{}</translation>
  </message>
  <message>
   <source>{} pinned and {} cached prefixes</source>
   <translation>{} 个已固定和 {} 个已缓存的前缀</translation>
  </message>
  <message>
   <source>{} pins</source>
   <translation>{} 个固定项</translation>
  </message>
  <message>
   <source>{} prefixes</source>
   <translation>{} 个前缀</translation>
  </message>
  <message>
   <source>{} will be evicted in {}.</source>
   <translation>{} 将在 {} 后移除。</translation>
  </message>
  <message>
   <source>{} will be given up in {}. Your files stay.</source>
   <translation>{} 将在 {} 后放弃。您的文件会保留。</translation>
  </message>
  <message>
   <source>{} will be unpinned in {}. Your files stay; what Pinfill keeps of them goes.</source>
   <translation>{} 将在 {} 后取消固定。您的文件会保留；Pinfill 为其保存的内容将被删除。</translation>
  </message>
 </context>
 <context>
  <name>RuleOffer</name>
  <message>
   <source>&amp;Turn on</source>
   <translation>启用(&amp;T)</translation>
  </message>
  <message>
   <source>&amp;Why</source>
   <translation>原因(&amp;W)</translation>
  </message>
  <message>
   <source>The rule "{}" is on: it counts for requests from now on.</source>
   <translation>规则“{}”已启用：从现在起对请求生效。</translation>
  </message>
  <message>
   <source>The rule "{}" was not turned on. {}</source>
   <translation>未能启用规则“{}”。{}</translation>
  </message>
  <message>
   <source>Turn on the rule "{}"?</source>
   <translation>启用规则“{}”？</translation>
  </message>
 </context>
 <context>
  <name>RulesSection</name>
  <message>
   <source>Rules for stable prompts</source>
   <translation>稳定提示的规则</translation>
  </message>
  <message>
   <source>What they change in requests before they become prompts, so that less has to be prefilled.</source>
   <translation>请求成为提示之前对其所做的更改，以减少预填充。</translation>
  </message>
 </context>
 <context>
  <name>SavingsPage</name>
  <message>
   <source>&amp;Export...</source>
   <translation>导出(&amp;E)...</translation>
  </message>
  <message>
   <source>Asking the service.</source>
   <translation>正在询问服务。</translation>
  </message>
  <message>
   <source>Choose another &amp;place</source>
   <translation>选择其他位置(&amp;P)</translation>
  </message>
  <message>
   <source>Export savings</source>
   <translation>导出节省情况</translation>
  </message>
  <message>
   <source>Go to the &amp;prefixes</source>
   <translation>转到前缀(&amp;P)</translation>
  </message>
  <message>
   <source>Last 30 days</source>
   <translation>最近 30 天</translation>
  </message>
  <message>
   <source>Last 7 days</source>
   <translation>最近 7 天</translation>
  </message>
  <message>
   <source>Nothing was asked in the last 7 days.</source>
   <translation>最近 7 天没有任何请求。</translation>
  </message>
  <message>
   <source>Nothing was saved yet. Pin what many prompts begin with, and send some that do.</source>
   <translation>尚未节省任何内容。请固定许多提示共同的开头，然后发送几个这样的请求。</translation>
  </message>
  <message>
   <source>Savings</source>
   <translation>节省</translation>
  </message>
  <message>
   <source>Savings are shown while it runs.</source>
   <translation>服务运行时会显示节省情况。</translation>
  </message>
  <message>
   <source>Sho&amp;w</source>
   <translation>显示(&amp;W)</translation>
  </message>
  <message>
   <source>Show the last &amp;30 days</source>
   <translation>显示最近 30 天(&amp;3)</translation>
  </message>
  <message>
   <source>Tables for spreadsheets (*.csv)</source>
   <translation>电子表格文件 (*.csv)</translation>
  </message>
  <message>
   <source>{} is written.</source>
   <translation>{} 已写入。</translation>
  </message>
  <message>
   <source>{} of prefill saved this month</source>
   <translation>本月节省了 {} 的预填充</translation>
  </message>
  <message>
   <source>{} of prefill saved this week</source>
   <translation>本周节省了 {} 的预填充</translation>
  </message>
  <message>
   <source>{} requests; {} of {} prompt tokens came from the cache; the others took {} of prefill.</source>
   <translation>{} 个请求；{}/{} 个提示 token 来自缓存；其余的预填充用时 {}。</translation>
  </message>
  <message>
   <source>{} was not written: {}. Choose another place.</source>
   <translation>{} 未写入：{}。请选择其他位置。</translation>
  </message>
 </context>
 <context>
  <name>SavingsPlots</name>
  <message>
   <source>Prefill before the first word, mean for a request, in {}</source>
   <translation>首个词之前的预填充，每个请求的平均值，单位 {}</translation>
  </message>
  <message>
   <source>Prefill saved by day and pin</source>
   <translation>按日期和固定项统计的已节省预填充</translation>
  </message>
  <message>
   <source>Prefill saved by day, in {}</source>
   <translation>按日期统计的已节省预填充，单位 {}</translation>
  </message>
  <message>
   <source>Prefill with and without what is cached, by pin</source>
   <translation>有缓存和无缓存时的预填充，按固定项</translation>
  </message>
  <message>
   <source>cached</source>
   <translation>已缓存</translation>
  </message>
  <message>
   <source>not cached</source>
   <translation>未缓存</translation>
  </message>
  <message>
   <source>others</source>
   <translation>其他</translation>
  </message>
 </context>
 <context>
  <name>SelfTest</name>
  <message>
   <source>It ended without a word.</source>
   <translation>它未输出任何内容就结束了。</translation>
  </message>
 </context>
 <context>
  <name>SelfTestDialog</name>
  <message>
   <source>&amp;Copy report</source>
   <translation>复制报告(&amp;C)</translation>
  </message>
  <message>
   <source>All is well: the answer from the cache is the same, first word after {} instead of {}.</source>
   <translation>一切正常：缓存给出的回答相同，首个词在 {} 后出现，而不是 {}。</translation>
  </message>
  <message>
   <source>Answers come, but nothing was cached. Please report this, with the text below.</source>
   <translation>能够得到回答，但没有任何内容被缓存。请附上下面的文本报告此问题。</translation>
  </message>
  <message>
   <source>Looks at the machine, loads the model, and asks it the same thing twice...</source>
   <translation>正在检查本机、加载模型，并向它提出两次相同的问题...</translation>
  </message>
  <message>
   <source>No answer came, so nothing could be compared.</source>
   <translation>没有得到回答，因此无法比较。</translation>
  </message>
  <message>
   <source>Report</source>
   <translation>报告</translation>
  </message>
  <message>
   <source>Self-test</source>
   <translation>自检</translation>
  </message>
  <message>
   <source>The answer from the cache is another one. Please report this, with the text below.</source>
   <translation>缓存给出的回答不同。请附上下面的文本报告此问题。</translation>
  </message>
  <message>
   <source>The self-test failed. {}</source>
   <translation>自检失败。{}</translation>
  </message>
 </context>
 <context>
  <name>SettingsPage</name>
  <message>
   <source>&amp;Restart service</source>
   <translation>重启服务(&amp;R)</translation>
  </message>
  <message>
   <source>Changed, and counts from the service's next start: {}. A restart ends requests under way.</source>
   <translation>已更改，从服务下次启动起生效：{}。重启会中断正在进行的请求。</translation>
  </message>
  <message>
   <source>Self-test...</source>
   <translation>自检...</translation>
  </message>
  <message>
   <source>Set by the variable {}, which wins over what is chosen here.</source>
   <translation>由变量 {} 设置，优先于此处的选择。</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>设置</translation>
  </message>
  <message>
   <source>The settings cannot be read, so they are not shown. Mend settings.toml: {}</source>
   <translation>无法读取设置，因此未显示。请修正 settings.toml：{}</translation>
  </message>
  <message>
   <source>context length</source>
   <translation>上下文长度</translation>
  </message>
  <message>
   <source>network</source>
   <translation>网络</translation>
  </message>
  <message>
   <source>port</source>
   <translation>端口</translation>
  </message>
  <message>
   <source>threads</source>
   <translation>线程</translation>
  </message>
 </context>
 <context>
  <name>SourceWatching</name>
  <message>
   <source>The files of pins cannot be watched</source>
   <translation>无法监视固定项的文件</translation>
  </message>
  <message>
   <source>{}. A pin whose file has changed is refreshed only when you ask for it.</source>
   <translation>{}。文件已更改的固定项只有在您要求时才会刷新。</translation>
  </message>
 </context>
 <context>
  <name>StatusLine</name>
  <message>
   <source>Memory for cached prefixes</source>
   <translation>缓存前缀所用内存</translation>
  </message>
  <message>
   <source>no model is loaded</source>
   <translation>未加载模型</translation>
  </message>
  <message>
   <source>{} of {}</source>
   <translation>{}，共 {}</translation>
  </message>
 </context>
 <context>
  <name>Step</name>
  <message>
   <source>&amp;Start the service</source>
   <translation>启动服务(&amp;S)</translation>
  </message>
  <message>
   <source>The service is not running ({}). {}</source>
   <translation>服务未运行（{}）。{}</translation>
  </message>
  <message>
   <source>The service is {}.</source>
   <translation>服务状态：{}。</translation>
  </message>
 </context>
 <context>
  <name>Supervisor</name>
  <message>
   <source>It did not answer {} times in a row.</source>
   <translation>它连续 {} 次没有应答。</translation>
  </message>
  <message>
   <source>It was not ready after {}.</source>
   <translation>它在 {} 后仍未就绪。</translation>
  </message>
  <message>
   <source>No port from {} on is free. Set another one in settings.toml.</source>
   <translation>从 {} 起没有空闲端口。请在 settings.toml 中设置其他端口。</translation>
  </message>
  <message>
   <source>The service at {} hangs. {} Restart it.</source>
   <translation>{} 上的服务没有响应。{} 请重启它。</translation>
  </message>
  <message>
   <source>The service cannot be started: {}.</source>
   <translation>无法启动服务：{}。</translation>
  </message>
  <message>
   <source>The service ended {} times in a row.</source>
   <translation>服务连续 {} 次结束。</translation>
  </message>
  <message>
   <source>The service has ended. It was not started by this window.</source>
   <translation>服务已结束。它不是由此窗口启动的。</translation>
  </message>
  <message>
   <source>{} cannot be used: {}.</source>
   <translation>无法使用 {}：{}。</translation>
  </message>
 </context>
 <context>
  <name>Tray</name>
  <message>
   <source>1 pin warm</source>
   <translation>1 个固定项已温热</translation>
  </message>
  <message>
   <source>no model is loaded</source>
   <translation>未加载模型</translation>
  </message>
  <message>
   <source>{} pins warm</source>
   <translation>{} 个固定项已温热</translation>
  </message>
  <message>
   <source>{} saved today</source>
   <translation>今天节省了 {}</translation>
  </message>
 </context>
 <context>
  <name>TrayActions</name>
  <message>
   <source>Copied</source>
   <translation>已复制</translation>
  </message>
  <message>
   <source>Equal to a cold run: {} tokens compared, {} instead of {}.</source>
   <translation>与冷运行一致：比较了 {} 个 token，用时 {}，而不是 {}。</translation>
  </message>
  <message>
   <source>Evict</source>
   <translation>移除</translation>
  </message>
  <message>
   <source>Evict {} unpinned prefixes, {}? Needs up to {} of prefill when they are asked for again.</source>
   <translation>移除 {} 个未固定的前缀（{}）？再次请求它们时最多需要 {} 的预填充。</translation>
  </message>
  <message>
   <source>It differs from a cold run by {}. Refresh it, and report this.</source>
   <translation>它与冷运行相差 {}。请刷新它并报告此问题。</translation>
  </message>
  <message>
   <source>Needs {} of prefill to get it back.</source>
   <translation>需要 {} 的预填充才能恢复。</translation>
  </message>
  <message>
   <source>Nothing could be evicted</source>
   <translation>无法移除任何内容</translation>
  </message>
  <message>
   <source>Programs reach the service at {}.</source>
   <translation>程序可通过 {} 访问服务。</translation>
  </message>
  <message>
   <source>Starting with the computer could not be changed</source>
   <translation>无法更改随计算机启动的设置</translation>
  </message>
  <message>
   <source>The key is on the clipboard.</source>
   <translation>密钥已在剪贴板中。</translation>
  </message>
  <message>
   <source>Unpin</source>
   <translation>取消固定</translation>
  </message>
  <message>
   <source>Unpin {}?</source>
   <translation>取消固定 {}？</translation>
  </message>
  <message>
   <source>Use {} as the model.</source>
   <translation>请将 {} 用作模型。</translation>
  </message>
  <message>
   <source>{} could not be loaded</source>
   <translation>无法加载 {}</translation>
  </message>
  <message>
   <source>{} could not be refreshed</source>
   <translation>无法刷新 {}</translation>
  </message>
  <message>
   <source>{} could not be unpinned</source>
   <translation>无法取消固定 {}</translation>
  </message>
  <message>
   <source>{} could not be verified</source>
   <translation>无法验证 {}</translation>
  </message>
  <message>
   <source>{} is not equal to a cold run</source>
   <translation>{} 与冷运行不一致</translation>
  </message>
  <message>
   <source>{} is verified</source>
   <translation>{} 已验证</translation>
  </message>
 </context>
 <context>
  <name>TrayMenu</name>
  <message>
   <source>Connect agent</source>
   <translation>连接智能体</translation>
  </message>
  <message>
   <source>Copy endpoint</source>
   <translation>复制地址</translation>
  </message>
  <message>
   <source>Copy key</source>
   <translation>复制密钥</translation>
  </message>
  <message>
   <source>Copy what is to be pinned first.</source>
   <translation>请先复制要固定的内容。</translation>
  </message>
  <message>
   <source>Evict unpinned...</source>
   <translation>移除未固定的前缀...</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>No model is loaded</source>
   <translation>尚未加载模型</translation>
  </message>
  <message>
   <source>Nothing pinned yet</source>
   <translation>尚未固定任何内容</translation>
  </message>
  <message>
   <source>Open Pinfill</source>
   <translation>打开 Pinfill</translation>
  </message>
  <message>
   <source>Other models...</source>
   <translation>其他模型...</translation>
  </message>
  <message>
   <source>Pin clipboard...</source>
   <translation>固定剪贴板...</translation>
  </message>
  <message>
   <source>Pin file...</source>
   <translation>固定文件...</translation>
  </message>
  <message>
   <source>Pin last request</source>
   <translation>固定最近的请求</translation>
  </message>
  <message>
   <source>Pinfill {} is out...</source>
   <translation>Pinfill {} 已发布...</translation>
  </message>
  <message>
   <source>Quit</source>
   <translation>退出</translation>
  </message>
  <message>
   <source>Quit (the service keeps running)</source>
   <translation>退出（服务继续运行）</translation>
  </message>
  <message>
   <source>Refresh</source>
   <translation>刷新</translation>
  </message>
  <message>
   <source>Restart service</source>
   <translation>重启服务</translation>
  </message>
  <message>
   <source>Start service</source>
   <translation>启动服务</translation>
  </message>
  <message>
   <source>Start with the computer</source>
   <translation>随计算机启动</translation>
  </message>
  <message>
   <source>Stop prefilling</source>
   <translation>停止预填充</translation>
  </message>
  <message>
   <source>Stop reading its files</source>
   <translation>停止读取文件</translation>
  </message>
  <message>
   <source>The clipboard holds no text</source>
   <translation>剪贴板中没有文本</translation>
  </message>
  <message>
   <source>Unpin...</source>
   <translation>取消固定...</translation>
  </message>
  <message>
   <source>Use (copy model name)</source>
   <translation>使用（复制模型名称）</translation>
  </message>
  <message>
   <source>Verify</source>
   <translation>验证</translation>
  </message>
  <message>
   <source>{} more...</source>
   <translation>还有 {} 项...</translation>
  </message>
  <message>
   <source>{} saved today</source>
   <translation>今天节省了 {}</translation>
  </message>
 </context>
 <context>
  <name>Updates</name>
  <message>
   <source>Open {} in a browser.</source>
   <translation>请在浏览器中打开 {}。</translation>
  </message>
  <message>
   <source>The download page cannot be opened</source>
   <translation>无法打开下载页面</translation>
  </message>
 </context>
 <context>
  <name>UpdatesRow</name>
  <message>
   <source>&amp;Say when a newer version is out</source>
   <translation>有新版本时告诉我(&amp;S)</translation>
  </message>
  <message>
   <source>Asking {}...</source>
   <translation>正在询问 {}...</translation>
  </message>
  <message>
   <source>Check no&amp;w</source>
   <translation>立即检查(&amp;W)</translation>
  </message>
  <message>
   <source>Off, nobody is asked unless you click. On, {} is asked once a day which release is the latest. It sees the address of this machine and "{}", nothing else. Nothing is downloaded or installed.</source>
   <translation>关闭时，除非您点击，否则不询问任何人。打开时，每天向 {} 询问一次最新版本。对方只会看到本机的地址和“{}”，别无其他。不会下载或安装任何内容。</translation>
  </message>
 </context>
 <context>
  <name>WindowNotices</name>
  <message>
   <source>Models</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Open the download page</source>
   <translation>打开下载页面</translation>
  </message>
  <message>
   <source>Port {} is used by {}. Pinfill now listens on {}.</source>
   <translation>端口 {} 正被{}使用。Pinfill 现在监听端口 {}。</translation>
  </message>
  <message>
   <source>Restart service</source>
   <translation>重启服务</translation>
  </message>
  <message>
   <source>Skip this version</source>
   <translation>跳过此版本</translation>
  </message>
  <message>
   <source>Start service</source>
   <translation>启动服务</translation>
  </message>
  <message>
   <source>The running service is Pinfill {}</source>
   <translation>正在运行的服务是 Pinfill {}</translation>
  </message>
  <message>
   <source>The running service is another version of Pinfill</source>
   <translation>正在运行的服务是另一个版本的 Pinfill</translation>
  </message>
  <message>
   <source>The service failed. {}</source>
   <translation>服务出现故障。{}</translation>
  </message>
  <message>
   <source>The service is started again. {}</source>
   <translation>正在重新启动服务。{}</translation>
  </message>
  <message>
   <source>The service that systemd should run did not start, so Pinfill runs one itself. See why: {}</source>
   <translation>应由 systemd 运行的服务没有启动，因此 Pinfill 自己运行了一个。查看原因：{}</translation>
  </message>
  <message>
   <source>This desktop has no tray. Pinfill runs while this window is open; closing it quits.</source>
   <translation>此桌面没有托盘。Pinfill 在此窗口打开期间运行；关闭窗口即退出。</translation>
  </message>
  <message>
   <source>This is {}; what you pinned and set stays.</source>
   <translation>当前是 {}；您固定的内容和设置都会保留。</translation>
  </message>
  <message>
   <source>This machine has no keyring, so the API key is kept in {}, which only you can read.</source>
   <translation>本机没有密钥环，因此 API 密钥保存在 {} 中，只有您可以读取。</translation>
  </message>
  <message>
   <source>another program</source>
   <translation>另一个程序</translation>
  </message>
  <message>
   <source>another program ({})</source>
   <translation>另一个程序（{}）</translation>
  </message>
  <message>
   <source>{} is not on this machine yet. Get it, or import a model.</source>
   <translation>{} 尚未在此计算机上。请获取它，或导入一个模型。</translation>
  </message>
  <message>
   <source>{}, this window is {}. Restart the service to have both the same.</source>
   <translation>{}，而此窗口是 {}。请重启服务，使两者一致。</translation>
  </message>
 </context>
 <context>
  <name>_Line</name>
  <message>
   <source>Close this notice</source>
   <translation>关闭此通知</translation>
  </message>
 </context>
 <context>
  <name>activity</name>
  <message>
   <source>And the pin, behind @</source>
   <translation>以及 @ 之后的固定项</translation>
  </message>
  <message>
   <source>Cached</source>
   <translation>已缓存</translation>
  </message>
  <message>
   <source>Client</source>
   <translation>客户端</translation>
  </message>
  <message>
   <source>First word</source>
   <translation>首个词</translation>
  </message>
  <message>
   <source>How long it took to the first word of the answer</source>
   <translation>到回答的首个词出现所用的时间</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>New</source>
   <translation>新增</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>提示</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>时间</translation>
  </message>
  <message>
   <source>Why</source>
   <translation>原因</translation>
  </message>
  <message>
   <source>Why not all of it was cached</source>
   <translation>为何不是全部来自缓存</translation>
  </message>
  <message>
   <source>answering</source>
   <translation>正在回答</translation>
  </message>
  <message>
   <source>cancelled</source>
   <translation>已取消</translation>
  </message>
  <message>
   <source>failed: {}</source>
   <translation>失败：{}</translation>
  </message>
  <message>
   <source>left what is cached at token {}</source>
   <translation>在第 {} 个 token 处偏离了缓存</translation>
  </message>
  <message>
   <source>now</source>
   <translation>现在</translation>
  </message>
  <message>
   <source>running</source>
   <translation>运行中</translation>
  </message>
  <message>
   <source>stalled</source>
   <translation>停滞</translation>
  </message>
  <message>
   <source>{} cached, {} new, of {} tokens</source>
   <translation>{} 个来自缓存，{} 个为新增，共 {} 个 token</translation>
  </message>
 </context>
 <context>
  <name>agents</name>
  <message>
   <source>Agent</source>
   <translation>智能体</translation>
  </message>
  <message>
   <source>Configuration</source>
   <translation>配置</translation>
  </message>
  <message>
   <source>Get it: {}</source>
   <translation>获取方式：{}</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>On this machine</source>
   <translation>在本机上</translation>
  </message>
  <message>
   <source>cannot be read</source>
   <translation>无法读取</translation>
  </message>
  <message>
   <source>changed since</source>
   <translation>此后被更改</translation>
  </message>
  <message>
   <source>connected</source>
   <translation>已连接</translation>
  </message>
  <message>
   <source>found</source>
   <translation>已找到</translation>
  </message>
  <message>
   <source>not connected</source>
   <translation>未连接</translation>
  </message>
  <message>
   <source>not found</source>
   <translation>未找到</translation>
  </message>
  <message>
   <source>to be pasted by hand</source>
   <translation>需手动粘贴</translation>
  </message>
 </context>
 <context>
  <name>autostart</name>
  <message>
   <source>The registry cannot be changed: {}.</source>
   <translation>无法更改注册表：{}。</translation>
  </message>
  <message>
   <source>{} cannot be deleted: {}.</source>
   <translation>无法删除 {}：{}。</translation>
  </message>
  <message>
   <source>{} cannot be written: {}.</source>
   <translation>无法写入 {}：{}。</translation>
  </message>
 </context>
 <context>
  <name>failures</name>
  <message>
   <source>A file could not be read as text. Choose another one.</source>
   <translation>无法将文件作为文本读取。请选择其他文件。</translation>
  </message>
  <message>
   <source>A file is damaged. Save it again in its program, or choose another one.</source>
   <translation>文件已损坏。请在其程序中重新保存，或选择其他文件。</translation>
  </message>
  <message>
   <source>A file is gone, or may not be read. Put it back, or choose another one.</source>
   <translation>文件已不存在或不允许读取。请将它放回，或选择其他文件。</translation>
  </message>
  <message>
   <source>A file is of a kind that is not read. Text, source code, HTML, PDF and DOCX are.</source>
   <translation>无法读取这种类型的文件。可以读取文本、源代码、HTML、PDF 和 DOCX。</translation>
  </message>
  <message>
   <source>A file is too large, or takes too long. Choose a smaller one, or a part of it.</source>
   <translation>文件太大或处理时间过长。请选择较小的文件，或只取其中一部分。</translation>
  </message>
  <message>
   <source>A file needs a password. Save a copy without one, and choose that.</source>
   <translation>文件需要密码。请另存一份不带密码的副本，并选择该副本。</translation>
  </message>
  <message>
   <source>A file with a prefix was damaged. It was set aside, and is prefilled again.</source>
   <translation>保存前缀的文件已损坏。该文件已被搁置，前缀将重新预填充。</translation>
  </message>
  <message>
   <source>A model is in use, or being loaded. Wait for that, then try again.</source>
   <translation>模型正在使用或正在加载。请等待其结束，然后重试。</translation>
  </message>
  <message>
   <source>A newer Pinfill wrote Pinfill's folder. Install that version again.</source>
   <translation>Pinfill 的文件夹由更新的 Pinfill 写入。请重新安装那个版本。</translation>
  </message>
  <message>
   <source>A setting is not valid. Correct settings.toml, then start the service.</source>
   <translation>有一项设置无效。请修正 settings.toml，然后启动服务。</translation>
  </message>
  <message>
   <source>An older version of Pinfill converted this model. Make it again.</source>
   <translation>此模型由较旧版本的 Pinfill 转换。请重新创建它。</translation>
  </message>
  <message>
   <source>Another Pinfill works on Pinfill's folder. Use that one, or end it first.</source>
   <translation>另一个 Pinfill 正在使用 Pinfill 的文件夹。请使用那一个，或先结束它。</translation>
  </message>
  <message>
   <source>Answers cannot be held to this schema. Simplify it.</source>
   <translation>无法使回答符合此模式。请简化它。</translation>
  </message>
  <message>
   <source>Files of this installation are missing. Install Pinfill again.</source>
   <translation>此安装缺少文件。请重新安装 Pinfill。</translation>
  </message>
  <message>
   <source>It can be used, but it is not on disk: after a restart it is prefilled again.</source>
   <translation>它可以使用，但不在磁盘上：重启后会重新预填充。</translation>
  </message>
  <message>
   <source>It could not be prefilled, so it cannot be used. Refresh it, or pin it again.</source>
   <translation>它未能预填充，因此无法使用。请刷新它，或重新固定。</translation>
  </message>
  <message>
   <source>It is not what its files hold, was made for another model, or is read otherwise now. Refresh it.</source>
   <translation>它与其文件的内容不符、是为其他模型创建的，或现在的读法已不同。请刷新它。</translation>
  </message>
  <message>
   <source>Memory is short, so less is cached until there is more. Close other programs.</source>
   <translation>内存不足，因此在内存恢复之前会减少缓存。请关闭其他程序。</translation>
  </message>
  <message>
   <source>Memory is too short for that. Close other programs, or choose a smaller model.</source>
   <translation>内存不足以完成此操作。请关闭其他程序，或选择较小的模型。</translation>
  </message>
  <message>
   <source>No answer came. Look into the log, and report it with the text below.</source>
   <translation>没有得到回答。请查看日志，并附上下面的文本报告此问题。</translation>
  </message>
  <message>
   <source>No model is loaded. Load one on the Models page.</source>
   <translation>尚未加载模型。请在“模型”页面加载一个。</translation>
  </message>
  <message>
   <source>Not all of it is there, so it is prefilled again by itself.</source>
   <translation>它不完整，因此会自动重新预填充。</translation>
  </message>
  <message>
   <source>Nothing else here can run it, or the settings ask for that.</source>
   <translation>这里没有其他设备可以运行它，或者设置要求如此。</translation>
  </message>
  <message>
   <source>Nothing of the second request came from the cache. Please report this.</source>
   <translation>第二个请求没有任何部分来自缓存。请报告此问题。</translation>
  </message>
  <message>
   <source>Other machines may use the service only with a key. Take no_key out of settings.toml.</source>
   <translation>其他机器只有在有密钥时才能使用此服务。请从 settings.toml 中去掉 no_key。</translation>
  </message>
  <message>
   <source>Prefixes cannot be kept on disk. Look whether it is full, or may not be written to.</source>
   <translation>无法将前缀保留在磁盘上。请查看磁盘是否已满，或是否不允许写入。</translation>
  </message>
  <message>
   <source>Something is wrong with this model. Choose another one, or fetch it again.</source>
   <translation>此模型有问题。请选择其他模型，或重新下载它。</translation>
  </message>
  <message>
   <source>Something unforeseen happened in the service. Look into the log, and report it.</source>
   <translation>服务中发生了意外情况。请查看日志并报告此问题。</translation>
  </message>
  <message>
   <source>That cannot be done with this agent. Look at its settings, or connect it by hand.</source>
   <translation>无法对此智能体执行该操作。请检查它的设置，或手动连接它。</translation>
  </message>
  <message>
   <source>That cannot be done with this pin.</source>
   <translation>无法对此固定项执行该操作。</translation>
  </message>
  <message>
   <source>That is more than the service takes at once. Shorten it, or pin less.</source>
   <translation>这超出了服务一次可接受的大小。请缩短内容，或减少要固定的内容。</translation>
  </message>
  <message>
   <source>That is not yet verified on hardware.</source>
   <translation>这尚未在硬件上验证。</translation>
  </message>
  <message>
   <source>That is too long for the model's context. Shorten it, or load a model with a longer context.</source>
   <translation>这对模型的上下文来说太长。请缩短内容，或加载上下文更长的模型。</translation>
  </message>
  <message>
   <source>The NPU has no driver. Install the one of its vendor.</source>
   <translation>NPU 没有驱动程序。请安装其厂商提供的驱动程序。</translation>
  </message>
  <message>
   <source>The answer could not be held to its form. Simplify the schema, or ask again.</source>
   <translation>无法使回答保持规定的格式。请简化模式，或再次提问。</translation>
  </message>
  <message>
   <source>The answer from the cache differs from that of a cold run. Please report this.</source>
   <translation>来自缓存的回答与不使用缓存的回答不同。请报告此问题。</translation>
  </message>
  <message>
   <source>The disk is full. Free some space, then try again.</source>
   <translation>磁盘已满。请释放一些空间，然后重试。</translation>
  </message>
  <message>
   <source>The download failed. Look whether the network works, then pull again: it goes on.</source>
   <translation>下载失败。请检查网络是否正常，然后重新下载：会从中断处继续。</translation>
  </message>
  <message>
   <source>The file with pins and requests has a problem. Look whether the disk is full or damaged.</source>
   <translation>保存固定项和请求的文件有问题。请查看磁盘是否已满或损坏。</translation>
  </message>
  <message>
   <source>The import answered what this version does not understand. Install Pinfill again.</source>
   <translation>导入返回了此版本无法理解的内容。请重新安装 Pinfill。</translation>
  </message>
  <message>
   <source>The keyring cannot be used. Unlock it, or set PINFILL_API_KEY.</source>
   <translation>无法使用密钥环。请将其解锁，或设置 PINFILL_API_KEY。</translation>
  </message>
  <message>
   <source>The model cannot be read. Fetch or import it again, or choose another one.</source>
   <translation>无法读取模型。请重新下载或导入它，或选择其他模型。</translation>
  </message>
  <message>
   <source>The model cannot run where the settings want it. Choose the provider auto or cpu.</source>
   <translation>模型无法按设置的要求运行。请将提供程序设为 auto 或 cpu。</translation>
  </message>
  <message>
   <source>The model could not be fetched. Pull it again; if it fails again, look into the log.</source>
   <translation>无法获取模型。请重新下载；如果再次失败，请查看日志。</translation>
  </message>
  <message>
   <source>The model could not be loaded; one that was loaded before goes on. Close other programs if memory is short, or choose another model.</source>
   <translation>无法加载模型；之前已加载的模型会继续运行。如果内存不足，请关闭其他程序，或选择其他模型。</translation>
  </message>
  <message>
   <source>The model could not finish its work. Try again; if it happens again, look into the log.</source>
   <translation>模型未能完成工作。请重试；如果再次发生，请查看日志。</translation>
  </message>
  <message>
   <source>The model's chat template does not take these messages. Use another model.</source>
   <translation>模型的聊天模板不接受这些消息。请使用其他模型。</translation>
  </message>
  <message>
   <source>The onnxruntime library is missing or too old. Install Pinfill again.</source>
   <translation>缺少 onnxruntime 库或其版本太旧。请重新安装 Pinfill。</translation>
  </message>
  <message>
   <source>The pin is not ready for that. Wait until it is warm, and until a model is loaded.</source>
   <translation>固定项尚未就绪。请等到它已温热且已加载模型。</translation>
  </message>
  <message>
   <source>The service at {} does not answer. Is it running?</source>
   <translation>{} 上的服务没有应答。它在运行吗？</translation>
  </message>
  <message>
   <source>The service at {} took too long. Try again, or restart it.</source>
   <translation>{} 上的服务用时过长。请重试，或重启它。</translation>
  </message>
  <message>
   <source>The service at {} wants another key than Pinfill has. Restart it from Pinfill's menu.</source>
   <translation>{} 上的服务需要的密钥与 Pinfill 的不同。请从 Pinfill 的菜单重启它。</translation>
  </message>
  <message>
   <source>The service cannot do what the request asks for. Leave that out.</source>
   <translation>服务无法执行该请求所要求的操作。请去掉这一部分。</translation>
  </message>
  <message>
   <source>The service cannot use what was entered. Correct it, and try again.</source>
   <translation>服务无法使用输入的内容。请更正后重试。</translation>
  </message>
  <message>
   <source>The service could not read the request. Restart the service, so that both fit.</source>
   <translation>服务无法读取该请求。请重启服务，使两者匹配。</translation>
  </message>
  <message>
   <source>The service does not answer. Start it, then try again.</source>
   <translation>服务没有应答。请启动它，然后重试。</translation>
  </message>
  <message>
   <source>The service is shutting down or changes its model. Try again in a moment.</source>
   <translation>服务正在关闭或正在更换模型。请稍后重试。</translation>
  </message>
  <message>
   <source>The service reads text only. Leave out pictures and other files.</source>
   <translation>服务只能读取文本。请去掉图片和其他文件。</translation>
  </message>
  <message>
   <source>The service refuses requests from web pages.</source>
   <translation>服务拒绝来自网页的请求。</translation>
  </message>
  <message>
   <source>The service refuses this address. Add it to the names in the settings.</source>
   <translation>服务拒绝此地址。请在设置中将它加入名称列表。</translation>
  </message>
  <message>
   <source>The service wants another key than Pinfill has. Restart it from Pinfill's menu.</source>
   <translation>服务需要的密钥与 Pinfill 的不同。请从 Pinfill 的菜单重启它。</translation>
  </message>
  <message>
   <source>The settings could not be written, so nothing changed. Look at settings.toml.</source>
   <translation>无法写入设置，因此没有任何更改。请检查 settings.toml。</translation>
  </message>
  <message>
   <source>The system did not allow it. Look at the file or address that is named here.</source>
   <translation>系统不允许此操作。请检查此处指出的文件或地址。</translation>
  </message>
  <message>
   <source>There is a pin of this name already. Choose another name, or unpin that one first.</source>
   <translation>已有同名的固定项。请换一个名称，或先取消固定那一个。</translation>
  </message>
  <message>
   <source>There is another model of this name already. Remove it, or import under another name.</source>
   <translation>已有另一个同名的模型。请移除它，或以其他名称导入。</translation>
  </message>
  <message>
   <source>There is no model of this name. Look at the Models page for those there are.</source>
   <translation>没有此名称的模型。请在“模型”页面查看现有的模型。</translation>
  </message>
  <message>
   <source>There is no pin of this name. It may have been unpinned or renamed.</source>
   <translation>没有此名称的固定项。它可能已被取消固定或重命名。</translation>
  </message>
  <message>
   <source>There is no room for this pin. Unpin something, or give prefixes more room in the settings.</source>
   <translation>没有足够的空间容纳此固定项。请取消固定某些项，或在设置中增加前缀可用的空间。</translation>
  </message>
  <message>
   <source>There is no text in it. Choose a file whose text can be selected and copied.</source>
   <translation>其中没有文本。请选择可以选中并复制文字的文件。</translation>
  </message>
  <message>
   <source>This cannot be a model's name. Rename the file or folder, and import it again.</source>
   <translation>这不能用作模型名称。请重命名文件或文件夹，然后重新导入。</translation>
  </message>
  <message>
   <source>This cannot be a name. Use letters from a to z, digits, dots and dashes.</source>
   <translation>这不能用作名称。请使用字母 a 到 z、数字、点和连字符。</translation>
  </message>
  <message>
   <source>This cannot be pinned, or not be used like that. Pin another text, or refresh the pin.</source>
   <translation>这无法固定，或不能这样使用。请固定其他文本，或刷新该固定项。</translation>
  </message>
  <message>
   <source>This is no model that Pinfill can use. Choose a GGUF file or an ONNX model.</source>
   <translation>这不是 Pinfill 可以使用的模型。请选择 GGUF 文件或 ONNX 模型。</translation>
  </message>
  <message>
   <source>This model is loaded. Unload it first, or load another one.</source>
   <translation>此模型已加载。请先卸载它，或加载另一个模型。</translation>
  </message>
  <message>
   <source>This prefix is not cached any more.</source>
   <translation>此前缀已不在缓存中。</translation>
  </message>
  <message>
   <source>This prefix is pinned or in use, so it stays. Unpin it first, or wait.</source>
   <translation>此前缀已固定或正在使用，因此会保留。请先取消固定，或稍候。</translation>
  </message>
  <message>
   <source>This request is not remembered any more. Send it again.</source>
   <translation>已不再保留此请求。请重新发送。</translation>
  </message>
  <message>
   <source>This service keeps no pins: it runs for one command only.</source>
   <translation>此服务不保留固定项：它只为一个命令运行。</translation>
  </message>
  <message>
   <source>This service was started for one model only. Restart it from Pinfill to change that.</source>
   <translation>此服务只为一个模型启动。要更改，请从 Pinfill 重启它。</translation>
  </message>
  <message>
   <source>Too many requests wait already. Try again in a moment.</source>
   <translation>等待中的请求已经太多。请稍后重试。</translation>
  </message>
  <message>
   <source>What answers at {} is not Pinfill, or another version of it. Restart the service.</source>
   <translation>{} 上应答的不是 Pinfill，或是它的另一个版本。请重启服务。</translation>
  </message>
  <message>
   <source>What this machine has could not be found out. Look into the log, and report it.</source>
   <translation>无法查明本机的配置。请查看日志并报告此问题。</translation>
  </message>
  <message>
   <source>What was kept of requests could not be deleted. Restart the service, and try again.</source>
   <translation>无法删除为请求保留的内容。请重启服务，然后重试。</translation>
  </message>
  <message>
   <source>You may not use the NPU. Become a member of the group that its device belongs to.</source>
   <translation>您无权使用 NPU。请加入其设备所属的用户组。</translation>
  </message>
  <message>
   <source>cannot be read</source>
   <translation>无法读取</translation>
  </message>
  <message>
   <source>is a link</source>
   <translation>是链接</translation>
  </message>
  <message>
   <source>is hidden</source>
   <translation>是隐藏的</translation>
  </message>
  <message>
   <source>is of a kind that is not read</source>
   <translation>属于不支持读取的类型</translation>
  </message>
  <message>
   <source>is too large</source>
   <translation>太大</translation>
  </message>
  <message>
   <source>was there before</source>
   <translation>之前已出现过</translation>
  </message>
  <message>
   <source>{} Details: {}</source>
   <translation>{}详细信息：{}</translation>
  </message>
 </context>
 <context>
  <name>findings</name>
  <message>
   <source>A date or time differs.</source>
   <translation>日期或时间不同。</translation>
  </message>
  <message>
   <source>A header or version string differs.</source>
   <translation>标头或版本字符串不同。</translation>
  </message>
  <message>
   <source>Add messages at the end: everything behind one that is put in is evaluated again.</source>
   <translation>请在末尾添加消息：插入的消息之后的所有内容都会重新计算。</translation>
  </message>
  <message>
   <source>Add to the end of a conversation instead of changing it, or use a model without such state.</source>
   <translation>请在对话末尾追加内容而不要更改它，或使用没有这种状态的模型。</translation>
  </message>
  <message>
   <source>All of the prompt that can be reused came from the cache.</source>
   <translation>提示中所有可以复用的内容都来自缓存。</translation>
  </message>
  <message>
   <source>An identifier differs.</source>
   <translation>标识符不同。</translation>
  </message>
  <message>
   <source>Another model, or a longer prompt, may be reusable.</source>
   <translation>换用其他模型或更长的提示，也许可以复用。</translation>
  </message>
  <message>
   <source>Ask for log probabilities of the prompt, or echo it, only where they are needed.</source>
   <translation>仅在需要时才请求提示的对数概率，或回显提示。</translation>
  </message>
  <message>
   <source>Claude Code's header is left out where that rule is on (pinfill rules on claude-billing-header); turn another one off in the client, or move it to the end of the prompt.</source>
   <translation>启用该规则后会去掉 Claude Code 的标头（pinfill rules on claude-billing-header）；其他标头请在客户端中关闭，或移到提示的末尾。</translation>
  </message>
  <message>
   <source>Everything before is the same; the last message is another one.</source>
   <translation>之前的内容都相同；最后一条消息不同。</translation>
  </message>
  <message>
   <source>It had been cached and was evicted, because room was needed.</source>
   <translation>它曾被缓存，但因需要空间而被移除。</translation>
  </message>
  <message>
   <source>It had been evaluated before, and is not cached any more.</source>
   <translation>它之前已计算过，但已不在缓存中。</translation>
  </message>
  <message>
   <source>It is cached for another chat template.</source>
   <translation>它是为另一个聊天模板缓存的。</translation>
  </message>
  <message>
   <source>It is cached for another model or for other settings.</source>
   <translation>它是为另一个模型或其他设置缓存的。</translation>
  </message>
  <message>
   <source>JSON has its keys in another order and is otherwise the same.</source>
   <translation>JSON 的键顺序不同，其余相同。</translation>
  </message>
  <message>
   <source>JSON is written differently (spacing, escapes) and is otherwise the same.</source>
   <translation>JSON 的写法不同（空格、转义），其余相同。</translation>
  </message>
  <message>
   <source>Keep the same tools for a whole conversation; those added later belong at its end.</source>
   <translation>请在整个对话中使用相同的工具；后来添加的工具应放在末尾。</translation>
  </message>
  <message>
   <source>Keep what changes at the end of the prompt: everything behind a change is evaluated again.</source>
   <translation>请将会变化的内容放在提示的末尾：更改之后的所有内容都会重新计算。</translation>
  </message>
  <message>
   <source>Leave out `cache_prompt: false`, or set it to true, to let the request use the cache.</source>
   <translation>请去掉 `cache_prompt: false`，或将其设为 true，以便请求使用缓存。</translation>
  </message>
  <message>
   <source>Leave the identifier out of the prompt, or move it to the last message.</source>
   <translation>请从提示中去掉该标识符，或将其移到最后一条消息。</translation>
  </message>
  <message>
   <source>Let the client always write JSON with the same spacing and escapes.</source>
   <translation>请让客户端始终以相同的空格和转义写 JSON。</translation>
  </message>
  <message>
   <source>Let the client send its tools in a fixed order, or let a rule sort them by name (pinfill rules on tools-by-name).</source>
   <translation>请让客户端以固定的顺序发送工具，或让规则按名称对其排序（pinfill rules on tools-by-name）。</translation>
  </message>
  <message>
   <source>Let the client send reasoning back, or turn it off; many templates leave out that of earlier answers, and only the answers behind it are evaluated again.</source>
   <translation>请让客户端将推理内容发回，或关闭推理；许多模板会去掉之前回答的推理内容，只有其后的回答会重新计算。</translation>
  </message>
  <message>
   <source>Let the client send the text back exactly as it was, with its spaces and line breaks.</source>
   <translation>请让客户端原样发回文本，包括空格和换行。</translation>
  </message>
  <message>
   <source>Let the client write JSON with sorted keys.</source>
   <translation>请让客户端以排序后的键写 JSON。</translation>
  </message>
  <message>
   <source>Messages were left out.</source>
   <translation>有消息被去掉。</translation>
  </message>
  <message>
   <source>Messages were put in.</source>
   <translation>有消息被插入。</translation>
  </message>
  <message>
   <source>Move the date or time to the last message, or leave it out; the dates of Claude Code and opencode are moved by a rule (pinfill rules on dates-behind-tools).</source>
   <translation>请将日期或时间移到最后一条消息，或将其去掉；Claude Code 和 opencode 的日期可由规则移动（pinfill rules on dates-behind-tools）。</translation>
  </message>
  <message>
   <source>Nothing that is cached begins like this prompt.</source>
   <translation>缓存中没有与此提示开头相同的内容。</translation>
  </message>
  <message>
   <source>Only white space differs.</source>
   <translation>只有空白字符不同。</translation>
  </message>
  <message>
   <source>Pin this prefix to keep it, also while other prompts need room.</source>
   <translation>固定此前缀，即使其他提示需要空间也会保留它。</translation>
  </message>
  <message>
   <source>Pin this prefix to keep it, or raise the memory budget.</source>
   <translation>请固定此前缀以保留它，或提高内存预算。</translation>
  </message>
  <message>
   <source>Pin what many prompts begin with, so that even the first of them finds it.</source>
   <translation>请固定许多提示共同的开头，这样第一个提示也能命中。</translation>
  </message>
  <message>
   <source>Reasoning that the earlier prompt had is left out now.</source>
   <translation>之前的提示中的推理内容现在被去掉了。</translation>
  </message>
  <message>
   <source>Remove messages rarely and many at once: everything behind them is evaluated again.</source>
   <translation>请尽量少移除消息，并一次移除多条：其后的所有内容都会重新计算。</translation>
  </message>
  <message>
   <source>Send the prompt once more: from now on it can be compared.</source>
   <translation>请再次发送该提示：从现在起可以进行比较。</translation>
  </message>
  <message>
   <source>The prompt goes on where an earlier one ended; only what is new is evaluated.</source>
   <translation>此提示从之前一个提示的结尾处继续；只计算新的内容。</translation>
  </message>
  <message>
   <source>The prompt is the same as an earlier one.</source>
   <translation>此提示与之前的一个相同。</translation>
  </message>
  <message>
   <source>The prompt was evaluated again; look into the service's log if it happens more than once.</source>
   <translation>该提示已重新计算；如果多次发生，请查看服务的日志。</translation>
  </message>
  <message>
   <source>The request asks for log probabilities of the prompt, for which all of it is evaluated.</source>
   <translation>该请求需要提示的对数概率，为此必须计算全部内容。</translation>
  </message>
  <message>
   <source>The request turned the cache off.</source>
   <translation>该请求关闭了缓存。</translation>
  </message>
  <message>
   <source>The text differs.</source>
   <translation>文本不同。</translation>
  </message>
  <message>
   <source>The text is the same, but it was made of other tokens.</source>
   <translation>文本相同，但由不同的 token 组成。</translation>
  </message>
  <message>
   <source>The tools are the same, but in another order.</source>
   <translation>工具相同，但顺序不同。</translation>
  </message>
  <message>
   <source>The tools differ.</source>
   <translation>工具不同。</translation>
  </message>
  <message>
   <source>There is nothing to do.</source>
   <translation>无需任何操作。</translation>
  </message>
  <message>
   <source>There is nothing to do: the text is the same, and only the reply is evaluated again.</source>
   <translation>无需任何操作：文本相同，只有回答会重新计算。</translation>
  </message>
  <message>
   <source>This model can go on at some places only, and the prompt left between two of them.</source>
   <translation>此模型只能从某些位置继续，而提示在其中两个位置之间偏离。</translation>
  </message>
  <message>
   <source>Use the same chat template, with the same options, for prompts that should share what is cached.</source>
   <translation>对于应共享缓存的提示，请使用相同的聊天模板和相同的选项。</translation>
  </message>
  <message>
   <source>Use the same model, adapter and cache salt for prompts that should share what is cached.</source>
   <translation>对于应共享缓存的提示，请使用相同的模型、适配器和缓存盐值。</translation>
  </message>
  <message>
   <source>What followed there in the cache is not remembered, so nothing can be compared.</source>
   <translation>已不再保留缓存中其后的内容，因此无法比较。</translation>
  </message>
  <message>
   <source>What is cached cannot be reused for this prompt.</source>
   <translation>缓存的内容无法用于此提示。</translation>
  </message>
  <message>
   <source>What was cached could not be read.</source>
   <translation>无法读取缓存的内容。</translation>
  </message>
 </context>
 <context>
  <name>models</name>
  <message>
   <source>Close other programs, or choose a smaller model.</source>
   <translation>请关闭其他程序，或选择较小的模型。</translation>
  </message>
  <message>
   <source>Context</source>
   <translation>上下文</translation>
  </message>
  <message>
   <source>How much it takes while it is loaded, of what is free on this computer</source>
   <translation>加载后占用多少此计算机的可用内存</translation>
  </message>
  <message>
   <source>Hugging Face's cache</source>
   <translation>Hugging Face 缓存</translation>
  </message>
  <message>
   <source>In memory</source>
   <translation>内存占用</translation>
  </message>
  <message>
   <source>It does not fit into memory: it needs up to {}, and {} are free. {}</source>
   <translation>内存容纳不下：最多需要 {}，可用 {}。{}</translation>
  </message>
  <message>
   <source>It fits into memory: it needs up to {}, and {} are free.</source>
   <translation>内存可以容纳：最多需要 {}，可用 {}。</translation>
  </message>
  <message>
   <source>It is in memory: up to {}.</source>
   <translation>已在内存中：最多 {}。</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>许可证</translation>
  </message>
  <message>
   <source>Memory is tight: it needs up to {}, prefixes may take {} more, and {} are free. Close other programs, or give prefixes less in the settings.</source>
   <translation>内存紧张：最多需要 {}，前缀还可能占用 {}，可用 {}。请关闭其他程序，或在设置中减少前缀可用的内存。</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>大小</translation>
  </message>
  <message>
   <source>State</source>
   <translation>状态</translation>
  </message>
  <message>
   <source>The longest prompt, in tokens</source>
   <translation>最长的提示，以 token 计</translation>
  </message>
  <message>
   <source>can be pulled</source>
   <translation>可下载</translation>
  </message>
  <message>
   <source>checking</source>
   <translation>正在检查</translation>
  </message>
  <message>
   <source>converting</source>
   <translation>正在转换</translation>
  </message>
  <message>
   <source>copying</source>
   <translation>正在复制</translation>
  </message>
  <message>
   <source>downloading</source>
   <translation>正在下载</translation>
  </message>
  <message>
   <source>fits</source>
   <translation>可容纳</translation>
  </message>
  <message>
   <source>importing</source>
   <translation>正在导入</translation>
  </message>
  <message>
   <source>in {}</source>
   <translation>在 {} 中</translation>
  </message>
  <message>
   <source>its name is no text. Rename the file or its folder.</source>
   <translation>其名称不是有效文本。请重命名该文件或其文件夹。</translation>
  </message>
  <message>
   <source>loaded</source>
   <translation>已加载</translation>
  </message>
  <message>
   <source>loading</source>
   <translation>正在加载</translation>
  </message>
  <message>
   <source>made by an older Pinfill</source>
   <translation>由较旧的 Pinfill 创建</translation>
  </message>
  <message>
   <source>on this computer</source>
   <translation>在此计算机上</translation>
  </message>
  <message>
   <source>pulling</source>
   <translation>正在下载</translation>
  </message>
  <message>
   <source>stopping</source>
   <translation>正在停止</translation>
  </message>
  <message>
   <source>tight</source>
   <translation>紧张</translation>
  </message>
  <message>
   <source>too large</source>
   <translation>太大</translation>
  </message>
  <message>
   <source>unpacking</source>
   <translation>正在解压</translation>
  </message>
  <message>
   <source>waiting for another program that works on it</source>
   <translation>正在等待另一个处理它的程序</translation>
  </message>
  <message>
   <source>waiting until running requests have ended</source>
   <translation>正在等待进行中的请求结束</translation>
  </message>
  <message>
   <source>{} model in {}</source>
   <translation>{1} 中的 {0} 个模型</translation>
  </message>
  <message>
   <source>{} models in {}</source>
   <translation>{1} 中的 {0} 个模型</translation>
  </message>
  <message>
   <source>{} {}</source>
   <translation>{} {}</translation>
  </message>
  <message>
   <source>{} {} of {}</source>
   <translation>{} {}，共 {}</translation>
  </message>
  <message>
   <source>{}, cannot be imported</source>
   <translation>{}，无法导入</translation>
  </message>
  <message>
   <source>{}, up to {} of {}</source>
   <translation>{}，最多 {}，共 {}</translation>
  </message>
 </context>
 <context>
  <name>no service</name>
  <message>
   <source>&amp;Start the service</source>
   <translation>启动服务(&amp;S)</translation>
  </message>
  <message>
   <source>Asking the service.</source>
   <translation>正在询问服务。</translation>
  </message>
  <message>
   <source>The service is not running ({}). {}</source>
   <translation>服务未运行（{}）。{}</translation>
  </message>
  <message>
   <source>The service is {}. {}</source>
   <translation>服务状态：{}。{}</translation>
  </message>
 </context>
 <context>
  <name>prefixes</name>
  <message>
   <source>(no words)</source>
   <translation>（无文字）</translation>
  </message>
  <message>
   <source>Hits</source>
   <translation>命中</translation>
  </message>
  <message>
   <source>How long ago a request began with it</source>
   <translation>距上次有请求以它开头的时间</translation>
  </message>
  <message>
   <source>Last</source>
   <translation>上次</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>内存</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>名称</translation>
  </message>
  <message>
   <source>Prefill saved by the last request</source>
   <translation>最近一次请求节省的预填充</translation>
  </message>
  <message>
   <source>Prefill saved in all; for what is not pinned: hits times what one saves</source>
   <translation>总共节省的预填充；对于未固定的前缀：命中次数乘以每次节省的时间</translation>
  </message>
  <message>
   <source>Prefill saved today</source>
   <translation>今天节省的预填充</translation>
  </message>
  <message>
   <source>Requests that began with it</source>
   <translation>以它开头的请求</translation>
  </message>
  <message>
   <source>Saved today</source>
   <translation>今天节省</translation>
  </message>
  <message>
   <source>Shared</source>
   <translation>共享</translation>
  </message>
  <message>
   <source>Source</source>
   <translation>来源</translation>
  </message>
  <message>
   <source>State</source>
   <translation>状态</translation>
  </message>
  <message>
   <source>The files it was pinned from, or the program that sent it</source>
   <translation>固定时所用的文件，或发送它的程序</translation>
  </message>
  <message>
   <source>Tokens</source>
   <translation>Token 数</translation>
  </message>
  <message>
   <source>Tokens that others begin with, too</source>
   <translation>其他项也以此开头的 token</translation>
  </message>
  <message>
   <source>Total</source>
   <translation>总计</translation>
  </message>
  <message>
   <source>Used</source>
   <translation>使用</translation>
  </message>
  <message>
   <source>What is shared with others counts for each of them.</source>
   <translation>与其他项共享的部分会计入每一项。</translation>
  </message>
  <message>
   <source>cached</source>
   <translation>已缓存</translation>
  </message>
  <message>
   <source>conversation</source>
   <translation>对话</translation>
  </message>
  <message>
   <source>in use</source>
   <translation>使用中</translation>
  </message>
  <message>
   <source>on disk</source>
   <translation>在磁盘上</translation>
  </message>
  <message>
   <source>plain text</source>
   <translation>纯文本</translation>
  </message>
  <message>
   <source>text</source>
   <translation>文本</translation>
  </message>
  <message>
   <source>{} s</source>
   <translation>{} 秒</translation>
  </message>
  <message>
   <source>{}, finishing</source>
   <translation>{}，即将完成</translation>
  </message>
  <message>
   <source>{}, stalled</source>
   <translation>{}，停滞</translation>
  </message>
  <message>
   <source>{}, {} left</source>
   <translation>{}，还剩 {}</translation>
  </message>
 </context>
 <context>
  <name>reveal</name>
  <message>
   <source>There is no file manager to show {} with.</source>
   <translation>没有可用来显示 {} 的文件管理器。</translation>
  </message>
  <message>
   <source>{} cannot be looked at: {}.</source>
   <translation>无法查看 {}：{}。</translation>
  </message>
  <message>
   <source>{} is gone. Put it back, or pin another file in its place.</source>
   <translation>{} 已不存在。请将它放回，或改为固定其他文件。</translation>
  </message>
 </context>
 <context>
  <name>rules</name>
  <message>
   <source>Claude Code begins its system prompt with 'x-anthropic-billing-header: cc_version=...; ...', which is another one in every conversation. It is left out of the first system message, where it must be the first line.</source>
   <translation>Claude Code 的系统提示以 'x-anthropic-billing-header: cc_version=...; ...' 开头，每次对话都不同。它会从第一条系统消息中去掉，在那里它必须是第一行。</translation>
  </message>
  <message>
   <source>Claude Code's billing header is left out</source>
   <translation>去掉 Claude Code 的计费标头</translation>
  </message>
  <message>
   <source>Dates of known clients stand behind the tools</source>
   <translation>已知客户端的日期放在工具之后</translation>
  </message>
  <message>
   <source>The line with today's date that Claude Code and opencode put into their system prompts is moved to the front of the first user message, so that a new day changes nothing before it. Off by default: it adds a line to a message of the user's. Other dates and clocks stay where they are.</source>
   <translation>Claude Code 和 opencode 放在系统提示中的当天日期行会移到第一条用户消息的开头，这样新的一天不会改变其之前的内容。默认关闭：它会在用户的消息中增加一行。其他日期和时间保持不变。</translation>
  </message>
  <message>
   <source>Tool definitions are put in the order of their names, for clients that send the same tools in changing order. Off by default: a model may prefer the first tools it reads.</source>
   <translation>将工具定义按名称排序，适用于以变化的顺序发送相同工具的客户端。默认关闭：模型可能偏向最先读到的工具。</translation>
  </message>
  <message>
   <source>Tools are sorted by name</source>
   <translation>按名称对工具排序</translation>
  </message>
 </context>
 <context>
  <name>run</name>
  <message>
   <source>Pinfill cannot start: {}. It needs a folder of yours on a disk with room.</source>
   <translation>Pinfill 无法启动：{}。它需要一个属于您、且磁盘有剩余空间的文件夹。</translation>
  </message>
  <message>
   <source>Pinfill runs already, but does not answer. End it, and start it again.</source>
   <translation>Pinfill 已在运行，但没有响应。请结束它，然后重新启动。</translation>
  </message>
 </context>
 <context>
  <name>savings</name>
  <message>
   <source>Cached</source>
   <translation>已缓存</translation>
  </message>
  <message>
   <source>Day</source>
   <translation>日期</translation>
  </message>
  <message>
   <source>Pin</source>
   <translation>固定项</translation>
  </message>
  <message>
   <source>Prefill done</source>
   <translation>已执行的预填充</translation>
  </message>
  <message>
   <source>Prefill saved</source>
   <translation>节省的预填充</translation>
  </message>
  <message>
   <source>Prompt tokens</source>
   <translation>提示 token</translation>
  </message>
  <message>
   <source>Requests</source>
   <translation>请求</translation>
  </message>
  <message>
   <source>not pinned</source>
   <translation>未固定</translation>
  </message>
 </context>
 <context>
  <name>states</name>
  <message>
   <source>If that goes on, it is restarted by {}.</source>
   <translation>如果持续如此，将在 {} 之前重启它。</translation>
  </message>
  <message>
   <source>It crashed ({}).</source>
   <translation>它崩溃了（{}）。</translation>
  </message>
  <message>
   <source>It ended with exit code {}.</source>
   <translation>它以退出代码 {} 结束。</translation>
  </message>
  <message>
   <source>The service does not answer.</source>
   <translation>服务没有响应。</translation>
  </message>
  <message>
   <source>busy</source>
   <translation>忙碌</translation>
  </message>
  <message>
   <source>cold</source>
   <translation>冷</translation>
  </message>
  <message>
   <source>does not answer</source>
   <translation>没有响应</translation>
  </message>
  <message>
   <source>does not answer, restart by {}</source>
   <translation>没有响应，将在 {} 之前重启</translation>
  </message>
  <message>
   <source>failed</source>
   <translation>失败</translation>
  </message>
  <message>
   <source>loading the model</source>
   <translation>正在加载模型</translation>
  </message>
  <message>
   <source>prefilling</source>
   <translation>正在预填充</translation>
  </message>
  <message>
   <source>queued</source>
   <translation>排队中</translation>
  </message>
  <message>
   <source>ready</source>
   <translation>就绪</translation>
  </message>
  <message>
   <source>restarting</source>
   <translation>正在重启</translation>
  </message>
  <message>
   <source>stale</source>
   <translation>已过期</translation>
  </message>
  <message>
   <source>starting</source>
   <translation>正在启动</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>已停止</translation>
  </message>
  <message>
   <source>warm</source>
   <translation>温热</translation>
  </message>
 </context>
 <context>
  <name>terminals</name>
  <message>
   <source>No terminal program was found. Open one, and type: {}</source>
   <translation>未找到终端程序。请打开一个终端，然后输入：{}</translation>
  </message>
  <message>
   <source>{} cannot be started. Open a terminal, and type: {}</source>
   <translation>无法启动 {}。请打开一个终端，然后输入：{}</translation>
  </message>
 </context>
 <context>
  <name>units</name>
  <message>
   <source>now</source>
   <translation>现在</translation>
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
   <translation>{} 字节</translation>
  </message>
  <message>
   <source>{} d</source>
   <translation>{} 天</translation>
  </message>
  <message>
   <source>{} h</source>
   <translation>{} 小时</translation>
  </message>
  <message>
   <source>{} h {} min</source>
   <translation>{} 小时 {} 分</translation>
  </message>
  <message>
   <source>{} kB</source>
   <translation>{} kB</translation>
  </message>
  <message>
   <source>{} min</source>
   <translation>{} 分钟</translation>
  </message>
  <message>
   <source>{} min {} s</source>
   <translation>{} 分 {} 秒</translation>
  </message>
  <message>
   <source>{} s</source>
   <translation>{} 秒</translation>
  </message>
  <message>
   <source>{} token</source>
   <translation>{} 个 token</translation>
  </message>
  <message>
   <source>{} tokens</source>
   <translation>{} 个 token</translation>
  </message>
  <message>
   <source>{} tokens/s</source>
   <translation>{} token/秒</translation>
  </message>
 </context>
 <context>
  <name>updates</name>
  <message>
   <source>Download {0} there, and type in its folder:
sudo apt-get install ./{0}</source>
   <translation>请在那里下载 {0}，然后在其所在文件夹中输入：
sudo apt-get install ./{0}</translation>
  </message>
  <message>
   <source>Download {} there, and start it.</source>
   <translation>请在那里下载 {} 并运行它。</translation>
  </message>
  <message>
   <source>Download {} there, unpack it, and run its install.sh.</source>
   <translation>请在那里下载 {}，解压后运行其中的 install.sh。</translation>
  </message>
  <message>
   <source>No release is published at {home}.</source>
   <translation>{home} 上没有已发布的版本。</translation>
  </message>
  <message>
   <source>Pinfill {} is out.</source>
   <translation>Pinfill {} 已发布。</translation>
  </message>
  <message>
   <source>The answer of {host} is not understood. Look at {home} yourself.</source>
   <translation>无法理解 {host} 的回答。请自行查看 {home}。</translation>
  </message>
  <message>
   <source>This is the newest version, {}.</source>
   <translation>当前已是最新版本 {}。</translation>
  </message>
  <message>
   <source>This is {}; the newest release is {}.</source>
   <translation>当前是 {}；最新发布的版本是 {}。</translation>
  </message>
  <message>
   <source>{host} cannot be reached safely. Look at this machine's clock and certificates, then check again.</source>
   <translation>无法安全地连接 {host}。请检查本机的时钟和证书，然后重试。</translation>
  </message>
  <message>
   <source>{host} cannot be reached. Look at the network and the proxy, then check again.</source>
   <translation>无法连接 {host}。请检查网络和代理，然后重试。</translation>
  </message>
  <message>
   <source>{host} does not answer now, perhaps because this network asks often. Check again in an hour.</source>
   <translation>{host} 现在不回答，可能是因为此网络询问过于频繁。请一小时后重试。</translation>
  </message>
  <message>
   <source>{host} takes too long. Check again later.</source>
   <translation>{host} 响应时间过长。请稍后重试。</translation>
  </message>
 </context>
</TS>
